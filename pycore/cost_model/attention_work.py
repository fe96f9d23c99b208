"""What attention computes and reads, beyond its weights."""

from pycore.cost_model.work import Chunk
from pycore.specs import Deployment


class AttentionWork:
    """FLOPs and KV bytes for one model and precision.

    Attributes:
        decode_flops, chunk_flops: of one query and one key in one layer, on all GPUs together.
        expand_flops: to make keys and values of one cached token from its latent vector, in all layers; 0
            without latent attention.
        token_bytes: KV of one token and layer on one GPU.
        full_layers, window_layers: how many see everything, and how many not.
        window: keys that the latter see.
    """

    __slots__ = (
        "chunk_flops",
        "decode_flops",
        "expand_flops",
        "full_layers",
        "token_bytes",
        "window",
        "window_layers",
    )

    def __init__(self, deployment: Deployment) -> None:
        """Args: deployment: what runs on what."""
        model = deployment.model
        self.full_layers, self.window_layers = model.full_layers, model.window_layers
        self.window = model.window.size if model.window else 0
        self.token_bytes = model.cached_numbers(deployment.tp) * deployment.kv_bits // 8
        # A multiplication and an addition for each number of a key, and the same for its value.
        self.decode_flops = self.chunk_flops = 4 * model.num_heads * model.head_dim
        self.expand_flops = 0
        if model.latent:
            # A decode stays with the latent vectors, the up-projections being absorbed into query and output;
            # a chunk makes keys and values first, those of its cached prefix too (DeepSeek-V2, section 2.1).
            latent, heads = model.latent, model.num_heads
            self.decode_flops = 2 * heads * (2 * latent.kv_rank + latent.rope_dim)
            self.chunk_flops = 2 * heads * (latent.nope_dim + latent.rope_dim + latent.value_dim)
            self.expand_flops = (
                2 * latent.kv_rank * heads * (latent.nope_dim + latent.value_dim) * model.num_layers
            )

    def layer_keys(self, keys: int, window_keys: int) -> int:
        """Keys summed over the layers, of those that see `keys` and those that see `window_keys`."""
        return self.full_layers * keys + self.window_layers * window_keys

    def chunk(self, chunk: Chunk) -> tuple[int, int]:
        """FLOPs, and keys to read summed over the layers, of one chunk."""
        cached, new, _ = chunk
        window = self.window
        seen = cached + new
        pairs = new * cached + new * (new + 1) // 2
        if not window:
            layers = self.full_layers
            return layers * pairs * self.chunk_flops + cached * self.expand_flops, layers * seen
        if seen <= window:
            window_pairs, window_seen = pairs, seen
        else:
            growing = max(0, window - cached)  # queries that still see everything before them
            window_pairs = growing * cached + growing * (growing + 1) // 2 + (new - growing) * window
            window_seen = min(seen, window + new - 1)
        flops = self.layer_keys(pairs, window_pairs) * self.chunk_flops + cached * self.expand_flops
        return flops, self.layer_keys(seen, window_seen)
