"""The shape of a decoder-only transformer: its weights, and what a token leaves in the KV cache."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LatentAttention:
    """Multi-head latent attention: one compressed vector a token and layer instead of keys and values.

    Attributes:
        q_rank: width that queries are compressed to.
        kv_rank: width of the latent vector that keys and values are made from.
        rope_dim: numbers of the one rotated key that all heads share; cached beside the latent vector.
        nope_dim: numbers of a head's key that are made from the latent vector.
        value_dim: numbers of a head's value.
    """

    q_rank: int
    kv_rank: int
    rope_dim: int
    nope_dim: int
    value_dim: int


@dataclass(frozen=True, slots=True)
class Experts:
    """The MLPs of a mixture of experts.

    Attributes:
        count: experts a layer, of which a router picks some for each token.
        per_token: how many it picks.
        ffn_size: inner width of one expert.
        shared: further experts that every token passes.
        dense_layers: first layers that have a plain MLP instead.
    """

    count: int
    per_token: int
    ffn_size: int
    shared: int = 0
    dense_layers: int = 0


@dataclass(frozen=True, slots=True)
class SlidingWindow:
    """Layers that look back a bounded way only.

    Attributes:
        size: keys that a query sees at most, its own among them.
        num_layers: layers that are so; the others see everything.
    """

    size: int
    num_layers: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSpec:
    """A decoder-only transformer.

    Attributes:
        name: as its makers spell it.
        num_layers: transformer layers.
        hidden_size: width of the residual stream.
        num_heads: query heads.
        num_kv_heads: key and value heads; fewer than `num_heads` with grouped-query attention.
        head_dim: numbers a head; not always hidden_size / num_heads.
        ffn_size: inner width of the MLP.
        vocab_size: tokens in the vocabulary.
        max_context: longest prompt plus output it was made for, in tokens.
        source: where the figures stand.
        gated: whether the MLP has three matrices (gate, up, down) instead of two.
        tied: whether input and output embedding are one matrix.
        latent: multi-head latent attention, if it has that.
        experts: a mixture of experts, if it is one.
        window: its sliding windows, if it has any.
    """

    name: str
    num_layers: int
    hidden_size: int
    num_heads: int
    num_kv_heads: int
    head_dim: int
    ffn_size: int
    vocab_size: int
    max_context: int
    source: str
    gated: bool = True
    tied: bool = False
    latent: LatentAttention | None = None
    experts: Experts | None = None
    window: SlidingWindow | None = None

    @property
    def attention_params(self) -> int:
        """Weights of one layer's attention: queries, keys, values, output."""
        if self.latent is None:
            return 2 * self.hidden_size * (self.num_heads + self.num_kv_heads) * self.head_dim
        latent, heads = self.latent, self.num_heads
        queries = self.hidden_size * latent.q_rank + latent.q_rank * heads * (
            latent.nope_dim + latent.rope_dim
        )
        keys_values = self.hidden_size * (latent.kv_rank + latent.rope_dim)
        keys_values += latent.kv_rank * heads * (latent.nope_dim + latent.value_dim)
        return queries + keys_values + heads * latent.value_dim * self.hidden_size

    def mlp_params(self, ffn_size: int) -> int:
        """Weights of one MLP of this inner width."""
        return (3 if self.gated else 2) * self.hidden_size * ffn_size

    @property
    def expert_params(self) -> int:
        """Weights of one expert; 0 without experts."""
        return self.mlp_params(self.experts.ffn_size) if self.experts else 0

    @property
    def expert_layers(self) -> int:
        """Layers whose MLP is a mixture of experts."""
        return self.num_layers - self.experts.dense_layers if self.experts else 0

    @property
    def num_embeddings(self) -> int:
        """Embedding matrices: input and output, or one for both."""
        return 1 if self.tied else 2

    @property
    def dense_params(self) -> int:
        """Weights of all layers that every token passes: without routed experts and embeddings."""
        dense = self.num_layers * self.attention_params
        dense += (self.num_layers - self.expert_layers) * self.mlp_params(self.ffn_size)
        if self.experts:
            router = self.hidden_size * self.experts.count
            dense += self.expert_layers * (self.experts.shared * self.expert_params + router)
        return dense

    @property
    def head_params(self) -> int:
        """Weights of the output head."""
        return self.vocab_size * self.hidden_size

    @property
    def num_params(self) -> int:
        """Weights of all matrices; norms, biases and position embeddings, under 0.2 %, are left out."""
        routed = self.expert_layers * self.experts.count * self.expert_params if self.experts else 0
        return self.dense_params + routed + self.num_embeddings * self.head_params

    @property
    def active_params(self) -> int:
        """Weights that one token is multiplied with, and the embeddings."""
        routed = self.expert_layers * self.experts.per_token * self.expert_params if self.experts else 0
        return self.dense_params + routed + self.num_embeddings * self.head_params

    @property
    def window_layers(self) -> int:
        """Layers with a sliding window."""
        return self.window.num_layers if self.window else 0

    @property
    def full_layers(self) -> int:
        """Layers that see the whole context."""
        return self.num_layers - self.window_layers

    def cached_numbers(self, tp: int = 1) -> int:
        """Numbers that a token leaves in the KV cache of one GPU, in one layer.

        Args:
            tp: GPUs that share the model. KV heads are dealt out, or repeated where there are fewer of
                them; a latent vector is needed whole on each.
        """
        if self.latent:
            return self.latent.kv_rank + self.latent.rope_dim
        return 2 * -(-self.num_kv_heads // tp) * self.head_dim
