"""How long decode steps of one batch size take: each of their two times is a line over the keys.

    ns ▲              ╱ arithmetic = (flops + keys · flops a key) / rate, rounded down
       │         ___╱___ traffic   = (bytes + keys · bytes a key) / rate, rounded down
       │  ______╱
       │     ╱                     a roofline is the upper of both, serial kernels are their sum
       └───────────────▶ keys

Keys are summed over the layers. While nothing but decoding goes on they grow by the same number in each step,
so that a stretch is a sum of floors of an arithmetic progression, cut in two where the lines cross.
"""

from pycore.cost_model.rate import Rate, floor_sum


class DecodeLine:
    """The time of a step by its keys: the longer of arithmetic and traffic, and what is fixed."""

    __slots__ = ("_compute", "_fixed", "_lead", "_lead_growth", "_traffic")

    def __init__(
        self, compute: Rate, flops: tuple[int, int], traffic: Rate, size: tuple[int, int], fixed_ns: int
    ) -> None:
        """A batch size.

        Args:
            compute, traffic: the rates of both.
            flops: without any keys, and for each.
            size: the same of the bytes, in the unit of `traffic`.
            fixed_ns: time that a step takes besides.
        """
        self._compute = (flops[0] * compute.num, flops[1] * compute.num, compute.den)
        self._traffic = (size[0] * traffic.num, size[1] * traffic.num, traffic.den)
        self._fixed = fixed_ns
        # By how much arithmetic is above traffic, in a common unit.
        self._lead = self._compute[0] * traffic.den - self._traffic[0] * compute.den
        self._lead_growth = self._compute[1] * traffic.den - self._traffic[1] * compute.den

    def step_ns(self, keys: int) -> int:
        """Time of the step that attends to `keys` keys."""
        amount, each, den = self._traffic if self._lead + self._lead_growth * keys < 0 else self._compute
        return (amount + each * keys) // den + self._fixed

    def stretch_ns(self, keys: int, growth: int, steps: int) -> int:
        """Time of `steps` steps, the first with `keys` keys, each with `growth` more than the one before."""
        lead, lead_growth = self._lead + self._lead_growth * keys, self._lead_growth * growth
        if lead >= 0:
            first, last = self._compute, self._traffic
            turn = steps if lead_growth >= 0 else lead // -lead_growth + 1
        else:
            first, last = self._traffic, self._compute
            turn = steps if lead_growth <= 0 else -(lead // lead_growth)
        amount, each, den = first
        if turn >= steps:
            return floor_sum(steps, den, each * growth, amount + each * keys) + steps * self._fixed
        total = floor_sum(turn, den, each * growth, amount + each * keys) + steps * self._fixed
        amount, each, den = last
        return total + floor_sum(steps - turn, den, each * growth, amount + each * (keys + turn * growth))

    def begun_within(self, keys: int, growth: int, ns: int, limit: int) -> tuple[int, int]:
        """How many steps begin before `ns` ns have passed, at most `limit`, and how long they take.

        Args:
            keys, growth: see `stretch_ns`.
            ns, limit: at least 1.
        """
        # Newton's method from above: the time is convex, so it comes down to the answer and not below it.
        first = self.step_ns(keys)
        steps = min(limit - 1, (ns - 1) // first)
        if not steps:
            return 1, first
        while True:
            spent = self.stretch_ns(keys, growth, steps)
            last = self.step_ns(keys + steps * growth)
            if spent < ns:
                return steps + 1, spent + last
            steps += (ns - 1 - spent) // last


class SerialDecodeLine(DecodeLine):
    """The time of a step by its keys: arithmetic, traffic and what is fixed, one after the other."""

    __slots__ = ()

    def step_ns(self, keys: int) -> int:
        """See DecodeLine."""
        amount, each, den = self._compute
        compute = (amount + each * keys) // den
        amount, each, den = self._traffic
        return compute + (amount + each * keys) // den + self._fixed

    def stretch_ns(self, keys: int, growth: int, steps: int) -> int:
        """See DecodeLine."""
        total = steps * self._fixed
        for amount, each, den in (self._compute, self._traffic):
            total += floor_sum(steps, den, each * growth, amount + each * keys)
        return total
