"""Hit rates by policy and capacity, as a table and a chart: of an experiment's trace or of a user's."""

from collections.abc import Sequence

from pycore.experiments.keys import HIT_RATE, Keys
from pycore.experiments.result import BLOCKS, PERCENT, REQUESTS, TOKENS, Chart, Column, Table, percent
from pycore.hit_rate.hit_rate import CEILING, HitRates

_KEYS = Keys("hit_rates")
CACHE_BLOCKS = _KEYS.column("cache_blocks", "int", BLOCKS)


def policy_key(policy: str) -> str:
    """The name of a policy."""
    return _KEYS.of(f"policy.{policy}")


def policies_of(rates: HitRates) -> list[str]:
    """Those that were measured, in order."""
    return list(dict.fromkeys(point.policy for point in rates.points))


def _shares(rates: HitRates) -> dict[int, dict[str, float]]:
    """Hit rate in percent by capacity and policy."""
    shares: dict[int, dict[str, float]] = {}
    for point in rates.points:
        shares.setdefault(point.capacity, {CEILING: percent(rates.ceiling.hit_rate)})
        shares[point.capacity][point.policy] = percent(point.hit_rate)
    return shares


def curve_table(rates: HitRates) -> Table:
    """A row for each capacity, a column for each policy; prompts larger than the cache if there are any."""
    shown = [*policies_of(rates), CEILING]
    columns = [CACHE_BLOCKS, _KEYS.column("cache_tokens", "int", TOKENS)]
    columns += [Column(policy_key(each), "float", PERCENT) for each in shown]
    larger = {point.capacity: point.num_larger for point in rates.points}
    if any(larger.values()):
        columns.append(_KEYS.column("larger", "int", REQUESTS))
    rows = []
    for capacity, shares in _shares(rates).items():
        row = [capacity, capacity * rates.block_size, *(shares.get(each) for each in shown)]
        rows.append([*row, larger[capacity]] if any(larger.values()) else row)
    return _KEYS.table("curve", columns, rows)


def curve_chart(rates: HitRates, policies: Sequence[str] | None = None) -> Chart:
    """A line for each of `policies` (None: all that were measured), and one for the ceiling."""
    shares = _shares(rates)
    shown = [*(policies_of(rates) if policies is None else policies), CEILING]
    values = {policy_key(each): [row.get(each) for row in shares.values()] for each in shown}
    return _KEYS.chart("curve", "line", CACHE_BLOCKS, list(shares), HIT_RATE, values)
