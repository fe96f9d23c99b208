"""The pool of one step, drawn: a cell for each block, with its owner and how its slots are used."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.text import Text

# Terminal colours that are told apart on dark and on light ground; a request keeps its own all through a run.
COLOURS = (
    "cyan",
    "green",
    "magenta",
    "yellow",
    "blue",
    "red",
    "bright_cyan",
    "bright_magenta",
    "bright_green",
)
GLYPHS = {"real": "█", "partly": "▌", "reserved": "▒", "internal": "░", "cached": "□", "free": "·"}
ASCII_GLYPHS = {"real": "#", "partly": "+", "reserved": "=", "internal": "-", "cached": "o", "free": "."}
NAMED_BLOCKS = 128  # a larger pool has a character a block and no names
SLOT_GLYPHS = 4  # characters of a named cell; a larger block has several slots a character
_FREE = (-1, "free")
_CACHED = (-1, "cached")


def slots(recording: dict, step: int) -> list[tuple[int, str]]:
    """Owner (−1: none) and part ("real", "reserved", "internal", "cached", "free") of each slot of the pool.

    Args:
        recording: columns, see app.backend.columns.
        step: number of the frame.
    """
    rows, size = recording["rows"], recording["block_size"]
    pool = [_FREE] * recording["capacity"]
    for row in range(*recording["frames"]["row_start"][step : step + 2]):
        seq, tokens, final, held, place = (
            rows[name][row] for name in ("seq", "tokens", "final", "held", "table")
        )
        for position in range(held):
            if recording["mode"] == "paged":
                slot = recording["tables"][place][position // size] * size + position % size
            else:
                slot = place + position
            part = "real" if position < tokens else "reserved" if position < final else "internal"
            pool[slot] = (seq, part)
    if "cached" in recording:
        for at in range(*recording["frames"]["cached_start"][step : step + 2]):
            first = recording["cached"]["block"][at] * size
            pool[first : first + size] = [_CACHED] * size
    return pool


def pool_picture(recording: dict, step: int, width: int, blocks: bool = True) -> "Text":
    """All blocks in order, as many a line as fit.

    Args:
        recording: columns.
        step: number of the frame.
        width: columns of the terminal.
        blocks: draw with block elements; otherwise with ASCII.
    """
    from rich.text import Text

    pool, size, count = slots(recording, step), recording["block_size"], recording["num_blocks"]
    glyphs = GLYPHS if blocks else ASCII_GLYPHS
    named = count <= NAMED_BLOCKS
    fill = min(size, SLOT_GLYPHS) if named else 1
    name_width = len(f"r{max(recording['seqs']['id'], default=0)}") + 1 if named else 0
    cell = fill + (name_width + 1 if named else 0)
    index = len(str(count - 1)) + 1
    per_line = _round(max(1, (width - index) // cell))
    picture = Text(no_wrap=True, overflow="crop")
    for block in range(count):
        if block % per_line == 0:
            picture.append(("\n" if block else "") + f"{block:>{index - 1}} ", style="dim")
        content = pool[block * size : (block + 1) * size]
        if named:
            picture.append(*_name(content, name_width))
        for part in range(fill):
            picture.append(*_glyph(content[part * size // fill : (part + 1) * size // fill], glyphs))
        if named:
            picture.append(" ")
    picture.rstrip()
    return picture


def _round(cells: int) -> int:
    """The largest power of two up to `cells`: rows of blocks that one can count."""
    return 1 << (cells.bit_length() - 1)


def _name(content: list[tuple[int, str]], width: int) -> tuple[str, str]:
    """Who holds the block's first slots, then "+" if somebody else holds others."""
    owners = [owner for owner, _ in content if owner >= 0]
    if not owners:
        return " " * width, ""
    more = "+" if any(owner != owners[0] for owner in owners) else " "
    return f"r{owners[0]}{more}".rjust(width), _colour(owners[0])


def _glyph(content: list[tuple[int, str]], glyphs: dict[str, str]) -> tuple[str, str]:
    """A few slots as one character; tokens show before promises, promises before waste."""
    owner = next((owner for owner, _ in content if owner >= 0), -1)
    parts = [part for _, part in content]
    if all(part == "real" for part in parts):
        look = "real"
    elif "real" in parts:
        look = "partly"
    else:
        look = next(part for part in ("reserved", "internal", "cached", "free") if part in parts)
    return glyphs[look], _colour(owner) if owner >= 0 else "dim"


def _colour(owner: int) -> str:
    return COLOURS[owner % len(COLOURS)]
