"""Writes the golden recordings anew: `python -m tests.golden.regenerate`, from the root of the repository.

Do so only after a change that is meant to change runs; the text files show what became of them.
"""

import json

from tests.golden.runs import DIGESTS, FOLDER, READABLE, digests, readable


def main() -> None:
    """Overwrites digests.json and the text files beside it."""
    DIGESTS.write_text(json.dumps(digests(), indent=1) + "\n", encoding="utf-8", newline="\n")
    for name in READABLE:
        (FOLDER / f"{name}.txt").write_text(readable(name), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
