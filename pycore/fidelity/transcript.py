"""Measured runs as a few columns of text: what can be carried along, in ms instead of ns."""

from pycore.fidelity.measured_run import Load, Outcome, RequestTimes

MS = 1_000_000
_SECOND_NS = 10**9


def read_transcript(requests: str, loads: str) -> Outcome:
    """What was measured.

    Args:
        requests: six numbers a request, in order of arrival: ms since the arrival before, prompt tokens,
            output tokens, ms from arrival to queued, from there to the first token, from there to the last.
        loads: two numbers a second from the first on: running and waiting sequences.

    >>> read_transcript("0 5 3 1 20 40", "1 0").requests[0].end_to_end_ns
    60000000
    """
    numbers = [int(word) for word in requests.split()]
    times, arrival = [], 0
    for at in range(0, len(numbers), 6):
        gap, prompt, output, lag, first, rest = numbers[at : at + 6]
        arrival += gap
        queued = arrival + lag
        stamps = (queued, queued + first, queued + first + rest)
        times.append(RequestTimes(arrival * MS, prompt, output, *(each * MS for each in stamps)))
    counts = [int(word) for word in loads.split()]
    pairs = zip(counts[::2], counts[1::2], strict=True)
    return Outcome(tuple(times), tuple(Load(i * _SECOND_NS, *pair) for i, pair in enumerate(pairs, 1)))
