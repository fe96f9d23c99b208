"""Compiles every .py of /job/sources.zip to a .pyc; writes /job/compiled.zip (stored).

Runs inside the interpreter that will load the result. The .pyc are hash-based and unchecked: neither the
time of a file nor its source is looked at when it is imported. /job/options.json: {"root": where the
sources will seem to lie in a traceback, "optimize": 0|1|2}.
"""

import importlib._bootstrap_external as external
import importlib.util
import json
import zipfile


def main() -> None:
    """Compiles what lies in /job."""
    with open("/job/options.json") as file:
        options = json.load(file)

    with (
        zipfile.ZipFile("/job/sources.zip") as sources,
        zipfile.ZipFile("/job/compiled.zip", "w", zipfile.ZIP_STORED) as compiled,
    ):
        for name in sorted(sources.namelist()):
            source = sources.read(name)
            # pyodide reads its own docstrings while it boots, so they stay.
            optimize = 0 if name.split("/")[0] in ("pyodide", "_pyodide") else options["optimize"]
            code = compile(source, f"{options['root']}/{name}", "exec", dont_inherit=True, optimize=optimize)
            pyc = external._code_to_hash_pyc(code, importlib.util.source_hash(source), False)
            compiled.writestr(zipfile.ZipInfo(name + "c", (1980, 1, 1, 0, 0, 0)), bytes(pyc))


if __name__ == "__main__":
    main()
