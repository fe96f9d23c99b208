"""Compiles every .py of /job/sources.zip to a .pyc; writes /job/compiled.zip (stored).

Runs inside the interpreter that will load the result. The .pyc are hash-based and unchecked: neither the
time of a file nor its source is looked at when it is imported. /job/options.json: {"root": where the
sources will seem to lie in a traceback, "lean": whether asserts and line numbers go}. Docstrings are blanked.
"""

import ast
import importlib._bootstrap_external as external
import importlib.util
import json
import zipfile
from types import CodeType


def blanked(tree: ast.Module) -> ast.Module:
    """The module with a space for each docstring: of a class that has none, dataclasses would make one up."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            match node.body:
                case [ast.Expr(ast.Constant(str()) as docstring), *_]:
                    docstring.value = " "
    return tree


def without_lines(code: CodeType) -> CodeType:
    """The code without the table of its line numbers, nor those of the functions in it."""
    constants = tuple(without_lines(each) if isinstance(each, CodeType) else each for each in code.co_consts)
    return code.replace(co_consts=constants, co_linetable=b"")


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
            keeps = name.split("/")[0] in ("pyodide", "_pyodide")
            tree = ast.parse(source, name)
            code = compile(
                tree if keeps else blanked(tree),
                f"{options['root']}/{name}",
                "exec",
                dont_inherit=True,
                optimize=1 if options["lean"] else 0,
            )
            if options["lean"]:
                code = without_lines(code)
            pyc = external._code_to_hash_pyc(code, importlib.util.source_hash(source), False)
            compiled.writestr(zipfile.ZipInfo(name + "c", (1980, 1, 1, 0, 0, 0)), bytes(pyc))


if __name__ == "__main__":
    main()
