"""Long work in slices: a page that waits for it stays alive, shows progress, and can stop it."""

from collections.abc import Generator
from time import monotonic

SLICE_S = 0.15  # wall time of one slice; decides when a slice ends, never what it returns

# A job yields (done, total) after each small piece of work and returns its part of the response.
Job = Generator[tuple[int, int], None, dict]


class JobStoppedError(Exception):
    """Raised in a job that shall end early: it may still return what it has."""


class Jobs:
    """The jobs of one page, by number."""

    def __init__(self) -> None:
        self._jobs: dict[int, Job] = {}
        self._kinds: dict[int, str] = {}  # what each of them was asked for as
        self._started = 0

    def start(self, kind: str, job: Job) -> dict:
        """Runs the first slice; see `resume`."""
        self._started += 1
        self._jobs[self._started] = job
        self._kinds[self._started] = kind
        return self.resume(self._started)

    def kind(self, number: int) -> str | None:
        """The kind of request that started the job; None if it is over, or never was."""
        return self._kinds.get(number)

    def resume(self, number: int) -> dict:
        """Runs a slice of the job.

        Returns:
            Its result when it is done, else `more` (its number) and `progress`.

        Raises:
            KeyError: no such job, or it is over.
        """
        job = self._jobs[number]
        end = monotonic() + SLICE_S
        try:
            done, total = next(job)
            while monotonic() < end:
                done, total = next(job)
        except StopIteration as over:
            self._forget(number)
            return over.value
        except BaseException:
            self._forget(number)
            raise
        return {"more": number, "progress": {"done": done, "total": total}}

    def stop(self, number: int) -> dict:
        """Ends the job early.

        Returns:
            What it has so far; nothing if it keeps nothing, or is not there.
        """
        job = self._forget(number)
        if job is None:
            return {}
        try:
            job.throw(JobStoppedError)
        except StopIteration as over:
            return over.value
        except JobStoppedError:
            return {}
        job.close()
        return {}

    def cancel(self, number: int) -> None:
        """Drops the job, if it is there."""
        job = self._forget(number)
        if job is not None:
            job.close()

    def _forget(self, number: int) -> Job | None:
        self._kinds.pop(number, None)
        return self._jobs.pop(number, None)
