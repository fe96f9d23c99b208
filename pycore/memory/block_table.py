"""Logical to physical: where the tokens of one sequence lie."""


class BlockTable:
    """The blocks of one sequence, in logical order.

    Token i lies in physical block `blocks[i // block_size]`, slot `i % block_size`. All blocks but the last
    are full once `num_tokens` reaches them.

    Attributes:
        blocks: physical block numbers.
        num_slots: slots of the blocks.
        num_tokens: slots that hold real KV.
        final_tokens: slots that will hold real KV when the sequence is done; only the waste account knows.
        may_share: whether the block that the next token goes to may have other holders. False is certain, and
            spares a look at the reference count for every token.
        num_keyed: blocks at its head that a prefix cache knows.
        frozen: the blocks as a tuple, None after a change; see `as_tuple`.
    """

    __slots__ = ("blocks", "final_tokens", "frozen", "may_share", "num_keyed", "num_slots", "num_tokens")

    def __init__(self, final_tokens: int) -> None:
        self.blocks: list[int] = []
        self.num_slots = 0
        self.num_tokens = 0
        self.final_tokens = final_tokens
        self.may_share = False
        self.num_keyed = 0
        self.frozen: tuple[int, ...] | None = ()

    def append(self, blocks: list[int], block_size: int) -> None:
        """Adds physical blocks of `block_size` slots at the logical end."""
        self.blocks.extend(blocks)
        self.num_slots += len(blocks) * block_size
        self.frozen = None

    def replace(self, at: int, block: int) -> None:
        """Puts another physical block in the place of logical block `at`."""
        self.blocks[at] = block
        self.frozen = None

    def as_tuple(self) -> tuple[int, ...]:
        """The blocks as a tuple, made anew only after a change, so that recorded steps share it."""
        if self.frozen is None:
            self.frozen = tuple(self.blocks)
        return self.frozen
