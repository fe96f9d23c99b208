"""`kvscope site` calls build.py of the checkout it lies in."""

import app.cli.site


def test_build_is_called_with_the_options(kvscope, monkeypatch, tmp_path):
    build = tmp_path / "build.py"
    build.write_text("def main(arguments):\n    print(arguments)\n    return 0\n")
    monkeypatch.setattr(app.cli.site, "BUILD", build)
    outcome = kvscope("site", "--out", "here", "--serve")
    assert (outcome.code, outcome.out) == (0, "['--out', 'here', '--serve']\n")
    assert kvscope("site").out == "[]\n"


def test_a_failed_build_is_exit_code_2(kvscope, monkeypatch, tmp_path):
    build = tmp_path / "build.py"
    build.write_text("def main(arguments):\n    return 1\n")
    monkeypatch.setattr(app.cli.site, "BUILD", build)
    assert kvscope("site").code == 2


def test_outside_a_checkout_the_reason_is_given(refused, monkeypatch, tmp_path):
    monkeypatch.setattr(app.cli.site, "BUILD", tmp_path / "build.py")
    assert refused("site").endswith(
        "the site is built in a source checkout of kvscope, not from an installed package."
    )


def test_a_missing_package_is_named(refused, monkeypatch, tmp_path):
    build = tmp_path / "build.py"
    build.write_text("import a_package_that_nobody_has\n")
    monkeypatch.setattr(app.cli.site, "BUILD", build)
    assert refused("site").startswith(
        "The package a_package_that_nobody_has is missing; expected the extra “build”"
    )


def test_the_checkouts_build_script_is_found():
    assert app.cli.site.BUILD.is_file()
