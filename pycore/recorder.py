"""The whole run kept, for going back and forth in it."""

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b

from pycore.engine import Engine
from pycore.snapshot import Snapshot, take_snapshot


@dataclass(frozen=True, slots=True)
class Recording:
    """All steps of a run; `recording[t]` is the snapshot after step t, at once.

    Attributes:
        frames: one snapshot a step, frame 0 before the first.
    """

    frames: tuple[Snapshot, ...]

    def __getitem__(self, step: int) -> Snapshot:
        return self.frames[step]

    def __len__(self) -> int:
        return len(self.frames)

    def digest(self) -> str:
        """A fingerprint of every event, holding and count of the run: equal runs, equal digests, anywhere."""
        fingerprint = blake2b(digest_size=16)
        for frame in self.frames:
            fingerprint.update(repr(frame).encode())
            if frame.memory.cached:  # not in the repr
                fingerprint.update(repr(frame.memory.cached).encode())
            if frame.prefixes is not None:
                fingerprint.update(repr(frame.prefixes).encode())
        return fingerprint.hexdigest()


def record(engine: Engine, num_steps: int, on_step: Callable[[int], None] | None = None) -> Recording:
    """Steps a fresh engine `num_steps` times and keeps what it saw.

    Args:
        engine: not yet stepped, with an EventLog.
        num_steps: steps to run, whether or not requests are left.
        on_step: called after each step with its number; what it raises ends the recording.
    """
    frames = [take_snapshot(engine)]
    for step in range(1, num_steps + 1):
        engine.step()
        frame, before = take_snapshot(engine), frames[-1]
        if frame.prefixes is not None and frame.prefixes == before.prefixes:
            frame = frame._replace(prefixes=before.prefixes)  # kept once: most steps change nothing of it
        frames.append(frame)
        if on_step is not None:
            on_step(step)
    return Recording(tuple(frames))
