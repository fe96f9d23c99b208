"""Which slots already hold the KV of this prefix: an index over memory, never an owner of it."""
