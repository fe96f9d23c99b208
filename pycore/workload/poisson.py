"""Requests that arrive at random, at some rate: an endless stream, of which nothing is kept."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import log

from pycore.request import Request
from pycore.rng import Rng
from pycore.workload.lognormal import Lengths


@dataclass(frozen=True, slots=True)
class PoissonLoad:
    """Independent requests: lognormal lengths, and a Poisson process of arrivals.

    Attributes:
        prompts, outputs: their lengths.
        max_len: the longest prompt plus output, in tokens; outputs are clipped to it.
    """

    prompts: Lengths
    outputs: Lengths
    max_len: int

    def requests(self, seed: int, num: int, rate: float) -> Iterator[Request]:
        """`num` requests in order of arrival, the first at 0; gaps are −ln(1 − u) / rate.

        The same seed gives the same requests at every rate, only closer together or further apart.

        Args:
            seed: of lengths and arrivals.
            num: requests.
            rate: requests a second, on average.

        Raises:
            ValueError: a rate that is not above 0.

        >>> [each.arrival_ns for each in SHAREGPT.requests(5, 3, rate=4)]
        [0, 26215198, 37180477]
        """
        rng = Rng(seed)
        prompts, outputs = rng.fork("prompts"), rng.fork("outputs")
        for i, now_ns in zip(range(num), arrivals(rng.fork("arrivals"), rate), strict=False):
            prompt = self.prompts.draw(prompts)
            output = min(self.max_len - prompt, self.outputs.draw(outputs))
            yield Request(i, now_ns, prompt, output)


def arrivals(rng: Rng, rate: float) -> Iterator[int]:
    """Times of a Poisson process in ns, without end; the first is 0.

    Args:
        rng: a stream of its own.
        rate: arrivals a second, on average.

    Raises:
        ValueError: a rate that is not above 0.
    """
    if not rate > 0:
        raise ValueError(f"a rate of {rate} requests a second, expected more than 0")
    now_ns = 0
    while True:
        yield now_ns
        now_ns += round(-log(1 - rng.random()) * 10**9 / rate)


# As long as ShareGPT's: the means that the vLLM paper gives (section 6.1), before clipping.
SHAREGPT = PoissonLoad(Lengths(161, 1.0, 4, 1024), Lengths(338, 0.8), 2048)
# Long prompts: those of scenario B.
LONG_PROMPTS = PoissonLoad(Lengths(2048, 1.0, 64, 7168), Lengths(512, 0.8), 8192)
