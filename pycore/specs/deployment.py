"""A model on one or more GPUs, at some precision."""

from collections.abc import Sequence
from dataclasses import dataclass

from pycore.specs.gpu_spec import GpuSpec
from pycore.specs.kv_size import kv_bytes_per_token
from pycore.specs.model_spec import ModelSpec

BITS = (16, 8, 4)


class DeploymentError(ValueError):
    """A model that cannot be put on GPUs like this.

    Attributes:
        setting: "tp", "weights_bits" or "kv_bits".
        value: what was given.
        choices: what would do.
    """

    def __init__(self, setting: str, value: int, choices: Sequence[int]) -> None:
        self.setting = setting
        self.value = value
        self.choices = tuple(choices)
        super().__init__(f"{setting} is {value}, expected {self.expected}")

    @property
    def expected(self) -> str:
        """What would do, in words."""
        return ", ".join(map(str, self.choices))


@dataclass(frozen=True, slots=True)
class Deployment:
    """What runs on what: each GPU holds a shard of every layer (tensor parallelism).

    Attributes:
        model, gpu: see there.
        tp: GPUs that share the model.
        weights_bits: a weight of the layers, one of BITS; embeddings and output head stay at 16, as they do
            in quantised checkpoints.
        kv_bits: a number of the KV cache, one of BITS.

    Raises:
        DeploymentError: heads that cannot be dealt out to so many GPUs, or another number of bits.
    """

    model: ModelSpec
    gpu: GpuSpec
    tp: int = 1
    weights_bits: int = 16
    kv_bits: int = 16

    def __post_init__(self) -> None:
        for setting in ("weights_bits", "kv_bits"):
            if getattr(self, setting) not in BITS:
                raise DeploymentError(setting, getattr(self, setting), BITS)
        if not self._deals_out(self.tp):
            fits = [tp for tp in range(1, self.model.num_heads + 1) if self._deals_out(tp)]
            raise DeploymentError("tp", self.tp, fits)

    def _deals_out(self, tp: int) -> bool:
        """Whether each GPU gets as many query heads, and whole KV heads."""
        heads, kv_heads = self.model.num_heads, self.model.num_kv_heads
        return tp >= 1 and heads % tp == 0 and (kv_heads % tp == 0 or tp % kv_heads == 0)

    @property
    def kv_bytes_per_token(self) -> int:
        """Bytes that a token takes in the KV cache of one GPU."""
        return kv_bytes_per_token(self.model, self.kv_bits, self.tp)

    @property
    def expert_bytes(self) -> int:
        """Bytes of one routed expert's shard in one layer."""
        return self.model.expert_params * self.weights_bits // (8 * self.tp)

    @property
    def dense_bytes(self) -> int:
        """Bytes of one GPU's weights without the routed experts.

        Sharded weights are split evenly; of KV heads that are repeated, and of the matrices that compress to
        a latent vector, each GPU has a copy.
        """
        model, tp = self.model, self.tp
        whole = 0
        if model.latent:
            latent = model.latent
            whole = model.num_layers * model.hidden_size
            whole *= latent.q_rank + latent.kv_rank + latent.rope_dim
        sharded = model.dense_params - whole
        if not model.latent:
            copies = tp * model.cached_numbers(tp) - model.cached_numbers()
            sharded += model.num_layers * model.hidden_size * copies
        embeddings = 2 * model.num_embeddings * model.head_params
        return (sharded // tp + whole) * self.weights_bits // 8 + embeddings // tp

    @property
    def weight_bytes(self) -> int:
        """Bytes of one GPU's weights.

        >>> from pycore.specs.gpus import A100_40GB
        >>> from pycore.specs.models import OPT_13B_GATED
        >>> Deployment(OPT_13B_GATED, A100_40GB).weight_bytes
        26194984960
        """
        experts = self.model.experts
        routed = self.model.expert_layers * experts.count * self.expert_bytes if experts else 0
        return self.dense_bytes + routed
