"""The content-security policy and the check that nothing comes from outside."""

import pytest

from app.site.build_error import BuildError
from app.site.policy import CONTENT_SECURITY_POLICY, META, check_code, check_page, with_policy
from app.site.static_site import bokeh_bundles


def page(body="", head=""):
    return with_policy(f"<!doctype html><html><head><title>t</title>{head}</head><body>{body}</body></html>")


@pytest.mark.parametrize(
    "body",
    [
        '<a href="https://example.org/paper">paper</a>',
        '<script type="application/json">{"link": "https://example.org"}</script>',
        '<script src="assets/boot.1.js" type="module"></script>',
        '<img src="data:image/png;base64,AAAA//AAAA" alt="">',
        '<svg><use href="#mark"></use></svg>',
        '<p style="width: 4px">once upon = a time</p>',
    ],
)
def test_what_the_policy_allows_passes(body):
    check_page(page(body))


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("<script>go()</script>", "an inline script"),
        ('<script type="module">go()</script>', "an inline script"),
        ('<button onclick="go()">', "inline event handler onclick on <button>"),
        ('<a href="JavaScript:go()">', "a javascript: address"),
        ('<script src="https://cdn.example/x.js"></script>', "https://cdn.example/x.js in src of <script>"),
        ('<img src="//cdn.example/x.png">', "//cdn.example/x.png in src of <img>"),
        ('<img srcset="a.png 1x, https://cdn.example/b.png 2x">', "in srcset of <img>"),
        ('<link rel="stylesheet" href="http://cdn.example/x.css">', "in href of <link>"),
        ('<iframe src="https://example.org"></iframe>', "in src of <iframe>"),
        ("<style>@import 'https://cdn.example/x.css';</style>", "in a style sheet"),
        ("<style>p{background:url(//cdn.example/x.png)}</style>", "in a style sheet"),
        ('<p style="background:url(https://cdn.example/x.png)">', "in the style of <p>"),
        ('<base href="/elsewhere/">', "a <base> element"),
    ],
)
def test_what_breaks_the_policy_stops_the_build_and_is_named(body, said):
    with pytest.raises(BuildError) as stop:
        check_page(page(body))
    assert said in str(stop.value)


def test_a_page_with_another_policy_is_refused():
    with pytest.raises(BuildError, match="unsafe-eval"):
        check_page(f"<html><head>{META.replace('wasm-unsafe-eval', 'unsafe-eval')}</head></html>")


def test_the_policy_is_placed_first_in_the_head_and_not_twice():
    html = page()
    assert html.index("Content-Security-Policy") < html.index("<title>")
    assert with_policy(html) == html


def test_the_policy_allows_no_outside_and_no_eval_but_that_of_webassembly():
    assert "http" not in CONTENT_SECURITY_POLICY
    assert "'unsafe-eval'" not in CONTENT_SECURITY_POLICY
    assert "script-src 'self' 'wasm-unsafe-eval';" in CONTENT_SECURITY_POLICY


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.js", 'fetch("https://cdn.example/data.json")'),
        ("a.mjs", "import x from 'http://cdn.example/x.js'"),
        ("style.css", "p { background: url(https://cdn.example/x.png) }"),
        ("style.css", '@import "//cdn.example/x.css";'),
        # Harmless in BokehJS only.
        ("a.js", 'const url = "https://cdn.jsdelivr.net/npm/mathjax@3/es5/tex-svg.js"'),
        ("bokeh.js", 'fetch("http://elsewhere.example/")'),
    ],
)
def test_code_that_names_an_outside_address_stops_the_build(name, content):
    with pytest.raises(BuildError, match=f"{name} names an outside address"):
        check_code({name: content.encode()})


def test_namespaces_and_the_addresses_inside_bokehjs_are_known_to_be_harmless():
    check_code(
        {"a.js": b'document.createElementNS("http://www.w3.org/2000/svg", "g")', **bokeh_bundles(["bokeh"])}
    )
