"""The first result of every experiment, which the page shows before it has been run there."""

import json
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path
from tempfile import mkstemp

from app.backend.experiment import declarations
from app.backend.handle import Handler
from app.frontend.cache_folder import cache_folder
from app.frontend.report_version import report_version

PROCESSES = 2
ROOT = Path(__file__).parents[2]


@cache
def default_reports(kept: Path | None = None) -> dict[str, dict]:
    """What the handler answers for the first preset of every experiment, by name.

    Args:
        kept: folder for reports kept from one build to the next, each for as long as its sources stay; that
            of the project if None.
    """
    names = [declared["name"] for declared in declarations()]
    kept = kept or cache_folder(ROOT) / "reports"
    files = {name: kept / f"{name}-{report_version(name)}.json" for name in names}
    missing = [name for name, file in files.items() if not file.is_file()]
    made = {}
    if missing:
        kept.mkdir(parents=True, exist_ok=True)
        with ProcessPoolExecutor(PROCESSES) as processes:
            made = dict(zip(missing, processes.map(finished, missing), strict=True))
    for name, response in made.items():
        if response["error"] is None:  # an absent package may be there next time
            for old in set(kept.glob(f"{name}-*.json")) - {files[name]}:
                old.unlink(missing_ok=True)
            # A name of its own, as another build may be writing the same.
            descriptor, fresh = mkstemp(dir=kept, prefix=f"{name}.")
            with open(descriptor, "w", encoding="utf-8") as file:
                json.dump(response, file)
            Path(fresh).replace(files[name])
    return {
        name: made[name] if name in made else json.loads(file.read_text(encoding="utf-8"))
        for name, file in files.items()
    }


def finished(name: str) -> dict:
    """The handler's answer for an experiment's first preset."""
    handler = Handler()
    response = handler.handle({"kind": "experiment", "name": name, "settings": {}})
    while "more" in response:
        response = handler.handle({"kind": "continue", "job": response["more"]})
    return response
