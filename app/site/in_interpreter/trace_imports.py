"""Boots, imports and exercises the core; writes the library modules this took to /job/traced.json.

/job/options.json: {"library": path of the library archive, "modules": names to import, "optional": names to
import where they exist, "requests": requests to answer}. Runs with the core in /job/site-packages.
"""

import contextlib
import importlib
import json
import sys


def main() -> None:
    """Boots, imports, answers, and writes what was loaded."""
    with open("/job/options.json") as file:
        options = json.load(file)

    sys.path.append("/job/site-packages")
    for name in options["modules"]:
        importlib.import_module(name)
    for name in options["optional"]:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    if options["requests"]:
        from app.backend.worker import open_door

        door = open_door({})
        for request in options["requests"]:
            answer = json.loads(door.answer(json.dumps(request)))
            while answer.get("more") and not answer.get("error"):
                answer = json.loads(door.answer(json.dumps({"kind": "continue", "job": answer["more"]})))
            if answer.get("error"):
                raise RuntimeError(f"request {request['kind']!r} was answered with {answer['error']}")

    modules = {}
    for name, module in list(sys.modules.items()):
        origin = str(getattr(getattr(module, "__spec__", None), "origin", ""))
        if origin.startswith(options["library"] + "/"):
            modules[name] = origin[len(options["library"]) + 1 :]
    with open("/job/traced.json", "w") as file:
        json.dump(modules, file, sort_keys=True)


if __name__ == "__main__":
    main()
