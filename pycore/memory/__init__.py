"""Who owns which token slot: the pool of blocks, block tables, and the two allocators behind one protocol."""
