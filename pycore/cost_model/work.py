"""What a forward pass computes, in the few numbers that its time depends on."""

from collections.abc import Sequence
from typing import NamedTuple

from pycore.named_tuples import of_fields
from pycore.scheduling.batch import Batch


class Decodes(NamedTuple):
    """Sequences of which one token each is computed.

    Attributes:
        count: how many they are.
        keys: keys that they attend to, summed over them: each its tokens with KV, and the new one.
        lengths: the same of each sequence, in any order; only a model with sliding windows asks for them
            (`CostModel.needs_lengths`).
    """

    count: int
    keys: int
    lengths: Sequence[int] = ()

    def after(self, steps: int) -> "Decodes":
        """The same sequences, so many decode steps later."""
        count, keys, lengths = self
        return Decodes(
            count, keys + steps * count, tuple([each + steps for each in lengths]) if lengths else ()
        )


NO_DECODES = Decodes(0, 0)


class Chunk(NamedTuple):
    """Prompt tokens of one sequence.

    Attributes:
        cached: tokens before them whose KV is in memory: found in a prefix cache, or earlier chunks.
        new: tokens to compute.
        last: whether the prompt ends with them, so that the next token comes of it.
    """

    cached: int
    new: int
    last: bool = True


def work_of(batch: Batch, with_lengths: bool = False) -> tuple[Decodes, list[Chunk]]:
    """What `batch` computes, before its tokens are counted as computed.

    Args:
        batch: as scheduled.
        with_lengths: whether the length of each decoding sequence is wanted; then all of them are listed.

    Returns:
        The decodes, and the chunks in batch order.
    """
    listed, seqs, num_new = batch.num_decodes, batch.seqs, batch.num_new
    count, keys = listed + batch.num_together, batch.tokens_together
    lengths: list[int] = []
    if listed:
        lengths = [seq.num_tokens for seq in seqs[:listed]]
        keys += sum(lengths)
        if not with_lengths:
            lengths = []
        seqs, num_new = seqs[listed:], num_new[listed:]
    chunks: list[Chunk] = []
    for seq, new in zip(seqs, num_new, strict=True):
        computed, num_tokens = seq.num_computed, seq.num_tokens
        if new == 1 and computed + 1 == num_tokens:
            count += 1
            keys += num_tokens
            if with_lengths:
                lengths.append(num_tokens)
        else:
            chunks.append(of_fields(Chunk, (computed, new, computed + new == num_tokens)))
    return of_fields(Decodes, (count, keys, lengths)), chunks
