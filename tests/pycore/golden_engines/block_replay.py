"""Replays a case's list of operations on our memory: the cases V (vLLM V1) and N (nano-vllm)."""

from pycore.events import NullLog
from pycore.memory.block_pool import BlockPool
from pycore.memory.caching_pool import CachingBlockPool
from pycore.memory.free_list import LastFreedFirst
from pycore.memory.paged import PagedAllocator
from pycore.memory.prefix_caching import PrefixCachingAllocator
from pycore.prefix_cache.block_hash import blake2b_key
from pycore.prefix_cache.hash_chain import HashChain
from pycore.prompt import Media, Prompt
from pycore.request import Request, Sequence, Status

PROMPT_KEYS = {"salt": "salt", "cache_salt": "salt", "lora": "adapter", "lora_name": "adapter"}
PROMPT_KEYS |= {"lora_id": "adapter", "adapter": "adapter"}
MEDIA_KEYS = ("media", "mm", "mm_features", "mm_inputs", "images")
MEMORY_KEYS = {"block_size", "num_blocks_incl_null", "num_blocks", "enable_caching", "watermark", "ops"}


def as_media(item: dict | list) -> Media:
    """A picture of a case: its position, its length in tokens, and what names its content, in any order."""
    values = list(item.values()) if isinstance(item, dict) else item
    (content,) = [value for value in values if isinstance(value, str)]
    first, num_tokens = [value for value in values if isinstance(value, int)]
    return Media(first, num_tokens, content)


def as_prompt(tokens: list[int], extra: dict) -> Prompt:
    """A prompt of a case; an extra key that we do not know is an error, never passed over."""
    named, media = {}, []
    for key, value in extra.items():
        if key in MEDIA_KEYS:
            media += map(as_media, value)
        elif value is not None:
            named[PROMPT_KEYS[key]] = str(value)
    return Prompt(tuple(tokens), media=tuple(sorted(media, key=lambda each: each.first)), **named)


class BlockReplay:
    """Our memory, its sequences by the case's names, and what each operation leaves behind."""

    def __init__(self, memory: PagedAllocator, watermark_slots: int = 0) -> None:
        self.memory = memory
        self.seqs: dict[str, Sequence] = {}
        self._watermark_slots = watermark_slots
        self._num_seqs = 0

    def sequence(self, tokens: list[int], extra: dict) -> Sequence:
        """A new one; its output is as long as it may get."""
        self._num_seqs += 1
        request = Request(self._num_seqs, 0, len(tokens), 1 << 20, prompt=as_prompt(tokens, extra))
        return Sequence(request)

    def admit(self, name: str, tokens: list[int], extra: dict | None = None) -> dict:
        """As an admission: look up, ask for room, take; then all of the prompt is computed."""
        memory, seq = self.memory, self.sequence(tokens, extra or {})
        found = memory.look_up(seq) if isinstance(memory, PrefixCachingAllocator) else []
        answer = {"hit_tokens": len(found) * memory.block_size, "hit_blocks": found}
        if not memory.can_admit([seq], self._watermark_slots):
            return answer | {"admitted": False}
        self.seqs[name] = seq
        seq.num_computed = memory.match_prefix(seq)
        assert memory.allocate_slots(seq, seq.num_uncomputed)
        seq.num_computed = seq.num_tokens
        memory.commit([seq])
        seq.status = Status.RUNNING
        table = list(memory.block_table(seq))
        return answer | {"admitted": True, "table": table, "new_blocks": table[len(found) :]}

    def grow(self, name: str, tokens: list[int]) -> dict:
        """One token after the other: known, then room for it, then computed."""
        seq, grown = self.seqs[name], []
        for token in tokens:
            before = len(self.memory.block_table(seq))
            seq.tokens.append(token)
            seq.num_tokens += 1
            if not self.memory.allocate_slots(seq, 1):
                grown.append(None)
                seq.tokens.pop()
                seq.num_tokens -= 1
                break
            seq.num_computed += 1
            self.memory.commit([seq])
            grown.append(list(self.memory.block_table(seq))[before:])
        return {"new_blocks_per_token": grown}

    def free(self, name: str) -> dict:
        """The sequence is done, or preempted: memory cannot tell."""
        self.memory.free(self.seqs.pop(name))
        return {}

    def lookup(self, name: str, tokens: list[int], extra: dict | None = None) -> dict:
        """Looks, and takes nothing."""
        found = self.memory.look_up(self.sequence(tokens, extra or {}))
        return {"hit_tokens": len(found) * self.memory.block_size, "hit_blocks": found}

    def reset(self) -> dict:
        """Forgets all that is cached, if nobody holds a block."""
        return {"ok": self.memory.reset()}

    def carry_out(self, operation: list) -> dict:
        """One operation of a case; one that we do not know is an error, never passed over."""
        kind, *arguments = operation
        answer = getattr(self, kind)(*arguments)
        self.memory.check()
        return answer

    def held_blocks(self) -> dict[int, int]:
        """Blocks in use, but for the null block, and their reference counts."""
        pool, null = self.memory.pool, self.memory.null_blocks
        return {
            block: n for block in range(pool.num_blocks) if (n := pool.ref_count(block)) and block not in null
        }


def vllm_v1(given: dict) -> BlockReplay:
    """Memory as vLLM V1 has it: a null block, and a queue of free blocks with or without caching."""
    assert given.keys() <= MEMORY_KEYS, f"no such setting: {given.keys() - MEMORY_KEYS}"
    num_blocks, size = given["num_blocks_incl_null"], given["block_size"]
    if given.get("enable_caching", True):
        pool = CachingBlockPool(num_blocks, HashChain(size, blake2b_key))
        memory = PrefixCachingAllocator(pool, NullLog(), null_block=True)
    else:  # freed blocks are put in front, reversed: a stack
        pool = BlockPool(num_blocks, LastFreedFirst(range(num_blocks)))
        memory = PagedAllocator(pool, size, NullLog(), null_block=True)
    return BlockReplay(memory, int(given.get("watermark", 0) * num_blocks) * size)


def nano_vllm(given: dict) -> BlockReplay:
    """Memory as nano-vllm has it: all freed blocks to the tail, the newest of equal blocks is found."""
    assert given.keys() <= MEMORY_KEYS, f"no such setting: {given.keys() - MEMORY_KEYS}"
    chain = HashChain(given["block_size"], blake2b_key, newest_only=True)
    pool = CachingBlockPool(given["num_blocks"], chain, uncached_first=False)
    return BlockReplay(PrefixCachingAllocator(pool, NullLog()))
