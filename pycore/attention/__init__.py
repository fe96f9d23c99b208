"""Real attention over the block tables of pycore.memory, with a tiny transformer; the only place with numpy.

Transformer ──write, attend──▶ KVStore ──reads──▶ PagedAllocator.block_table(seq)
     │                        DenseStore, PagedStore
     └──logits──▶ sampling ──▶ the next token
"""
