"""How often a prefix cache was of use."""

from dataclasses import dataclass


@dataclass(slots=True)
class PrefixStats:
    """Counted once a request, when it is admitted; a retry while it waits counts nothing.

    What a preempted request finds when it is computed again are its own blocks more often than not. It is
    counted apart, or a pool that is too small would look like a good cache (vLLM V1).

    Attributes:
        requests: admissions for the first time.
        queries: tokens they had.
        hits: of those, found in the cache.
        preempted_queries, preempted_hits: the same of preempted requests.
    """

    requests: int = 0
    queries: int = 0
    hits: int = 0
    preempted_queries: int = 0
    preempted_hits: int = 0

    @property
    def hit_rate(self) -> float:
        """Share of the tokens that were found, 0 to 1, without those of preempted requests."""
        return self.hits / self.queries if self.queries else 0.0

    def count(self, num_tokens: int, num_found: int, *, preempted: bool) -> None:
        """One admission of `num_tokens` tokens, the first `num_found` of which were cached."""
        if preempted:
            self.preempted_queries += num_tokens
            self.preempted_hits += num_found
        else:
            self.requests += 1
            self.queries += num_tokens
            self.hits += num_found
