"""Who computes the cells of a sweep: processes of this machine, or the workers of a dask cluster."""

import os
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from multiprocessing import get_context
from typing import TYPE_CHECKING

from app.backend.settings import Value, shorten
from app.cli.failure import fail
from app.cli.interrupt import Interrupt
from app.cli.sweep_cells import run_cell

if TYPE_CHECKING:
    from distributed import Client

_POLL_S = 0.2  # how soon Ctrl-C is noticed
_CONNECT_S = 10  # how long to wait for a cluster

Job = tuple[bytes, str, int, bool]  # all that run_cell takes but the settings


@contextmanager
def processes(job: Job, count: int) -> Iterator[tuple[Executor, Job]]:
    """`count` processes, which get the trace once each."""
    context = get_context("spawn")
    with ProcessPoolExecutor(count, context, initializer=_begin, initargs=(job,)) as pool:
        yield pool, ()


def default_count() -> int:
    """As many as there are cores to use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


_given: list[Job] = []  # in a worker process: the trace that it was begun with


def _begin(job: Job) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that the user sees
    _given[:] = [job]


def run_given(values: dict[str, Value]) -> dict:
    """run_cell on the trace that this process was begun with."""
    return run_cell(*_given[0], values)


@contextmanager
def cluster(job: Job, address: str) -> Iterator[tuple[Executor, Job]]:
    """The workers of the cluster whose scheduler listens at `address`; they need kvscope installed.

    Raises:
        RequestError: nobody answers, or the package `distributed` is not installed.
    """
    client = _client(address)
    try:
        content, *rest = job
        yield client.get_executor(pure=False), (client.scatter(content, broadcast=True), *rest)
    finally:
        client.close()


def _client(address: str) -> "Client":
    try:
        from distributed import Client
    except ModuleNotFoundError:
        fail("sweep.error.no_dask")
    try:
        if not address.strip():  # a Client without one begins a cluster of its own
            raise ValueError(address)
        return Client(address, timeout=_CONNECT_S)
    except (OSError, ValueError, TypeError, OverflowError) as reason:
        fail("sweep.error.dask", address=shorten(address), reason=type(reason).__name__)


def finished(
    executor: Executor, job: Job, cells: Sequence[dict[str, Value]], interrupt: Interrupt
) -> Iterator[tuple[dict[str, Value], Future]]:
    """Runs the cells, and yields each with its future when it is done; stops early if interrupted.

    Cells that have begun when Ctrl-C is pressed are still waited for, so that nothing is lost.
    """
    submitted: dict[Future, dict[str, Value]] = {}
    for values in cells:
        future = executor.submit(run_cell, *job, values) if job else executor.submit(run_given, values)
        submitted[future] = values
    waiting = set(submitted)
    cancelled = False
    while waiting:
        if interrupt.asked and not cancelled:
            cancelled = True
            waiting = {future for future in waiting if not future.cancel()}
        done, waiting = wait(waiting, timeout=_POLL_S, return_when=FIRST_COMPLETED)
        for future in done:
            yield submitted[future], future
