"""Lengths as characters: bars and lines of little bars."""

from collections.abc import Sequence

_EIGHTHS = " ▏▎▍▌▋▊▉"
_LEVELS = "▁▂▃▄▅▆▇█"
_ASCII_LEVELS = " .:-=+*#"


def bar(value: float, most: float, width: int, blocks: bool = True) -> str:
    """A bar of up to `width` characters, as long as `value` is of `most`.

    Args:
        value, most: not below 0.
        width: of the longest bar.
        blocks: draw with block elements, to an eighth of a character; otherwise with "#".

    >>> bar(5, 8, 4), bar(5, 8, 4, blocks=False)
    ('██▌', '##')
    """
    share = min(1.0, value / most) if most > 0 else 0.0
    if not blocks:
        return "#" * round(share * width)
    whole, eighths = divmod(round(share * width * 8), 8)
    return "█" * whole + (_EIGHTHS[eighths] if eighths else "")


def sparkline(values: Sequence[float], most: float, width: int, blocks: bool = True) -> str:
    """A line of little bars, one for each value, or for the mean of a few where there are more than `width`.

    >>> sparkline([0, 4, 8, 8], 8, width=4), sparkline([0, 4, 8, 8], 8, width=2)
    ('▁▅██', '▃█')
    """
    levels = _LEVELS if blocks else _ASCII_LEVELS
    width = min(width, len(values))
    line = ""
    for column in range(width):
        first, last = column * len(values) // width, (column + 1) * len(values) // width
        mean = sum(values[first:last]) / (last - first)
        share = min(1.0, mean / most) if most > 0 else 0.0
        line += levels[min(len(levels) - 1, int(share * len(levels)))] if share else levels[0]
    return line
