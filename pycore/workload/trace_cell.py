"""One cell of a trace file, from text to an integer: lengths in tokens, arrivals in ns.

Numbers are read as decimal text, never through a float: 0.1 s is 100,000,000 ns on every machine.
"""

import re
from collections.abc import Callable
from datetime import date

MAX_LENGTH = 10_000_000
LENGTH_RANGE = f"1..{MAX_LENGTH}"
# Arrivals as numbers: |t| is at most 10^10 s (317 years), which leaves room for Unix time in any unit.
MAX_SECONDS_EXPONENT = 10

DATE_TIME = "date-time"
DATE_TIME_PATTERN = "YYYY-MM-DD HH:MM:SS.fffffff"
# Unit -> n where one unit is 10^n ns.
NS_EXPONENT = {"ns": 0, "us": 3, "ms": 6, "s": 9}

_NUMBER = re.compile(r"([+-]?)(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?", re.ASCII)
_NOT_FINITE = ("nan", "inf", "infinity")
_STAMP = re.compile(
    r"(\d{4})[-/](\d\d)[-/](\d\d)[ T](\d\d):(\d\d):(\d\d)(?:[.,](\d+))?"
    r"\s*(?:(Z|UTC)|([+-])(\d\d)(?::?(\d\d))?)?",
    re.IGNORECASE,
)
# Distinct length texts that are remembered; a file with more of them is only read more slowly.
_REMEMBERED = 1 << 16


class CellError(ValueError):
    """A cell that cannot be read. Its arguments: the problem's code, and what was expected."""


def scaled(text: str, exponent: int) -> tuple[int, bool]:
    """Decimal text times 10^exponent, as an integer cut towards zero, and whether that is exact.

    The work is bounded by the text's length: a number of more than 30 digits is refused, not computed.

    >>> scaled("0.1", 9), scaled("12.0", 0), scaled("12.5", 0), scaled("-1.5e-3", 9)
    ((100000000, True), (12, True), (12, False), (-1500000, True))

    Raises:
        CellError: not_a_number, not_finite or too_large.
    """
    text = text.strip()
    match = _NUMBER.fullmatch(text)
    if match is None or not (match[2] or match[3]):
        if text.lstrip("+-").lower() in _NOT_FINITE:
            raise CellError("not_finite", "")
        raise CellError("missing_value" if not text else "not_a_number", "")
    sign, whole, fraction, power = match.groups()
    digits = (whole + fraction).lstrip("0")
    if not digits:
        return 0, True
    # An exponent too long to matter is cut before int() meets it.
    shift = exponent + (int(power) if power and len(power) <= 9 else 0)
    if power and len(power) > 9:
        shift = -(10**9) if power[0] == "-" else 10**9
    before_point = len(digits) - len(fraction) + shift
    if before_point > 30:
        raise CellError("too_large", "")
    if before_point <= 0:
        return 0, False
    number = int(digits[:before_point].ljust(before_point, "0"))
    return (-number if sign == "-" else number), not digits[before_point:].strip("0")


class LengthTable(dict[str, int]):
    """Text of a length -> tokens, parsed once per distinct text.

    Traces repeat few distinct lengths over many rows, so a row mostly costs one look-up.

    >>> lengths = LengthTable()
    >>> lengths["12"], lengths[" 12.0"], lengths["1e3"]
    (12, 12, 1000)
    >>> lengths["12.5"]
    Traceback (most recent call last):
    pycore.workload.trace_cell.CellError: ('not_whole', '1..10000000')
    """

    def __missing__(self, text: str) -> int:
        try:
            length, exact = scaled(text, 0)
        except CellError as bad:
            code = bad.args[0]
            if code == "too_large" and text.lstrip().startswith("-"):
                code = "not_positive"
            raise CellError(code, LENGTH_RANGE) from None
        if length < 0 or (length == 0 and exact):
            raise CellError("not_positive", LENGTH_RANGE)
        if length > MAX_LENGTH:
            raise CellError("too_large", LENGTH_RANGE)
        if not exact:
            raise CellError("not_whole", LENGTH_RANGE)
        if len(self) < _REMEMBERED:
            self[text] = length
        return length


def number_reader(unit: str) -> Callable[[str], int]:
    """A reader of numbers in a unit (ns, us, ms, s) to ns; parts of a ns are cut off.

    >>> number_reader("s")("0.046926808"), number_reader("ms")("27482")
    (46926808, 27482000000)
    """
    exponent = NS_EXPONENT[unit]
    factor = 10**exponent
    largest = 10 ** (MAX_SECONDS_EXPONENT + NS_EXPONENT["s"])
    power = MAX_SECONDS_EXPONENT + NS_EXPONENT["s"] - exponent
    expected = f"-1e{power}..1e{power} {unit}"

    def read(text: str) -> int:
        if len(text) <= 10 and text.isascii() and text.isdecimal():
            return int(text) * factor
        try:
            ns, _ = scaled(text, exponent)
        except CellError as bad:
            raise CellError(
                "missing_value" if bad.args[0] == "missing_value" else "bad_time", expected
            ) from None
        if not -largest <= ns <= largest:
            raise CellError("bad_time", expected)
        return ns

    return read


def stamp_ns(text: str) -> int:
    """A date-time in ns from the first of January of year 1; without an offset it is taken as UTC.

    >>> stamp_ns("2023-11-16 18:17:03.9799600") - stamp_ns("2023-11-16T20:17:03+02:00")
    979960000

    Raises:
        CellError: bad_time, or missing_value.
    """
    match = _STAMP.fullmatch(text.strip())
    if match is None:
        raise CellError("bad_time" if text.strip() else "missing_value", DATE_TIME_PATTERN)
    year, month, day, hour, minute, second = map(int, match.groups()[:6])
    fraction, _, sign, zone_hour, zone_minute = match.groups()[6:]
    east = int(zone_hour or 0) * 60 + int(zone_minute or 0)
    if hour > 23 or minute > 59 or second > 59 or int(zone_hour or 0) > 23 or int(zone_minute or 0) > 59:
        raise CellError("bad_time", DATE_TIME_PATTERN)
    try:
        days = date(year, month, day).toordinal() - 1
    except ValueError:
        raise CellError("bad_time", DATE_TIME_PATTERN) from None
    minutes = (days * 24 + hour) * 60 + minute + (east if sign == "-" else -east)
    return (minutes * 60 + second) * 10**9 + int((fraction or "")[:9].ljust(9, "0"))


def stamp_reader() -> Callable[[str], int]:
    """`stamp_ns` for a column of stamps that mostly follow each other: a minute met before costs less.

    >>> read = stamp_reader()
    >>> read("2023-11-16 18:15:46.6805900") == stamp_ns("2023-11-16 18:15:46.6805900")
    True
    >>> read("2023-11-16 18:15:47.68+00:00") - read("2023-11-16 18:15:46.6")
    1080000000
    """
    seconds = {f"{second:02d}.": second * 10**9 for second in range(60)}
    factors = [10 ** (9 - digits) for digits in range(10)]
    # Of the stamp before: 'YYYY-MM-DD HH:MM:', its offset as '+00:00' or '', the ns where its minute began.
    minute, offset, minute_ns = "none", "", 0

    def read(text: str) -> int:
        nonlocal minute, offset, minute_ns
        if text.startswith(minute) and text.endswith(offset):
            second = seconds.get(text[17:20])
            fraction = text[20:-6] if offset else text[20:]
            if second is not None and fraction.isdecimal() and len(fraction) <= 9:
                return minute_ns + second + int(fraction) * factors[len(fraction)]
        ns = stamp_ns(text)
        if text[16:17] == ":" and text[19:20] == ".":
            tail = text[-6:] if text[-6:-5] in ("+", "-") else ""
            # Only what the quick way reads: '+0530' or 'Z' would be taken for a stamp without an offset.
            if text[20 : len(text) - len(tail)].isdecimal():
                minute, offset, minute_ns = text[:17], tail, ns - ns % (60 * 10**9)
        return ns

    return read


class Clock:
    """Reads a file's arrivals.

    A column whose name tells no unit may hold numbers or date-times: the first cell that is either decides.
    Without a column every request arrives at 0.

    Attributes:
        unit: ns, us, ms, s or `DATE_TIME`; None without a column, or while undecided.
        assumed: whether the numbers' unit was assumed.
        read: cell -> ns; replaced when decided, so look it up again now and then.
    """

    def __init__(self, column: str | None, unit: str | None, default_unit: str) -> None:
        """Args:
        column: the arrival column, or None.
        unit: the unit its name tells, or None.
        default_unit: what numbers are taken as where the name tells none.
        """
        self.unit = unit
        self.assumed = False
        self.read: Callable[[str], int]
        if column is None:
            self.read = _at_once
        elif unit is not None:
            self.read = number_reader(unit)
        else:
            self.read = self._decide
        self._default_unit = default_unit
        self._decided: Callable[[str], int] | None = None

    def _decide(self, text: str) -> int:
        if self._decided is not None:
            return self._decided(text)
        for unit in (self._default_unit, DATE_TIME):
            read = stamp_reader() if unit == DATE_TIME else number_reader(unit)
            try:
                ns = read(text)
            except CellError as bad:
                if bad.args[0] == "missing_value":
                    raise
                continue
            self._decided = self.read = read
            self.unit = unit
            self.assumed = unit != DATE_TIME
            return ns
        raise CellError("bad_time", f"{DATE_TIME_PATTERN} | {self._default_unit}")


def _at_once(_text: str) -> int:
    return 0
