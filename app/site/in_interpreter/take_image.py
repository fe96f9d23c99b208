"""Opens the door of the core, uses it, and leaves memory ready to be written down.

Runs in the site's interpreter, as `run.mjs … snapshot`, which then writes the memory to /job/snapshot.
/job/options.json: {"archives": path of an archive -> names of the modules in it, "requests": requests to
answer, "site_packages": where the core of /job/site-packages shall seem to lie}. Leaves `door` behind, and
/job/loaded.json: names of the modules that are in memory.
"""

import gc
import json
import random
import shutil
import sys
import zipimport


def take() -> object:
    """The door, used."""
    with open("/job/options.json") as file:
        options = json.load(file)

    shutil.copytree("/job/site-packages", options["site_packages"], dirs_exist_ok=True)
    from app.backend.worker import open_door

    opened = open_door(options["archives"])
    for request in options["requests"]:
        answer = json.loads(opened.answer(json.dumps(request)))
        if answer.get("error"):
            raise RuntimeError(f"request {request['kind']!r} was answered with {answer['error']}")
    with open("/job/loaded.json", "w") as file:
        json.dump(sorted(sys.modules), file)

    # What was found where no longer holds where the image is used; and the same sources give the same image.
    sys.path_importer_cache.clear()
    zipimport._zip_directory_cache.clear()
    random.seed(0)
    return opened


def wipe() -> None:
    """Writes zeros over memory that is free now: what was there would be part of the image for nothing.

    Pieces of each size are taken together, large ones first, few enough that memory need not grow for them.
    """
    sizes = (
        (1 << 18, 6),
        (1 << 16, 16),
        (1 << 14, 40),
        (1 << 12, 120),
        (1 << 11, 120),
        (1 << 10, 200),
        (600, 200),
    )
    [[bytes(size) for _ in range(number)] for size, number in sizes]
    header = sys.getsizeof(b"")
    [[bytes(size - header) for _ in range(40_000 // size)] for size in range(32, 513, 16)]


door = take()
gc.collect()
gc.freeze()  # what the image holds stays: no collection while the page is used need look at it
wipe()
