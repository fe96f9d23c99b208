"""Experiments: a question, settings, a run, and the claims that its result should bear out."""

from pycore.experiments.against_real_vllm import AGAINST_REAL_VLLM
from pycore.experiments.beam_search import BEAM_SEARCH
from pycore.experiments.block_size import BLOCK_SIZE
from pycore.experiments.block_size_in_time import BLOCK_SIZE_IN_TIME
from pycore.experiments.capacity_below_request import CAPACITY_BELOW_REQUEST
from pycore.experiments.evictable_is_no_leak import EVICTABLE_IS_NO_LEAK
from pycore.experiments.eviction_policies import EVICTION_POLICIES
from pycore.experiments.experiment import SUBJECTS, Experiment
from pycore.experiments.external_fragmentation import EXTERNAL_FRAGMENTATION
from pycore.experiments.few_shot_order import FEW_SHOT_ORDER
from pycore.experiments.first_chunk_only import FIRST_CHUNK_ONLY
from pycore.experiments.fragmentation import FRAGMENTATION
from pycore.experiments.hash_or_radix import HASH_OR_RADIX
from pycore.experiments.head_of_line import HEAD_OF_LINE
from pycore.experiments.hit_rate_is_not_time import HIT_RATE_IS_NOT_TIME
from pycore.experiments.hits_above_prompt import HITS_ABOVE_PROMPT
from pycore.experiments.middle_of_chain import MIDDLE_OF_CHAIN
from pycore.experiments.mixed_decoding import MIXED_DECODING
from pycore.experiments.multi_turn import MULTI_TURN
from pycore.experiments.never_fits import NEVER_FITS
from pycore.experiments.normalized_latency import NORMALIZED_LATENCY
from pycore.experiments.paged_attention import PAGED_ATTENTION
from pycore.experiments.parallel_sampling import PARALLEL_SAMPLING
from pycore.experiments.partial_blocks import PARTIAL_BLOCKS
from pycore.experiments.recompute_as_hits import RECOMPUTE_AS_HITS
from pycore.experiments.refcount_bug import REFCOUNT_BUG
from pycore.experiments.retraction import RETRACTION
from pycore.experiments.retried_admission import RETRIED_ADMISSION
from pycore.experiments.scenario_a import SCENARIO_A_EXPERIMENT
from pycore.experiments.scenario_b import SCENARIO_B_EXPERIMENT
from pycore.experiments.shared_prefix import SHARED_PREFIX
from pycore.experiments.short_prefix import SHORT_PREFIX
from pycore.experiments.starvation import STARVATION
from pycore.experiments.swap_or_recompute import SWAP_OR_RECOMPUTE
from pycore.experiments.theorem import THEOREM
from pycore.experiments.usage_zero import USAGE_ZERO
from pycore.experiments.victim_policy import VICTIM_POLICY
from pycore.experiments.watermark import WATERMARK

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        FRAGMENTATION,
        EXTERNAL_FRAGMENTATION,
        BLOCK_SIZE,
        PARALLEL_SAMPLING,
        BEAM_SEARCH,
        SHARED_PREFIX,
        MIXED_DECODING,
        PAGED_ATTENTION,
        REFCOUNT_BUG,
        FEW_SHOT_ORDER,
        THEOREM,
        CAPACITY_BELOW_REQUEST,
        STARVATION,
        MULTI_TURN,
        HIT_RATE_IS_NOT_TIME,
        HASH_OR_RADIX,
        SHORT_PREFIX,
        PARTIAL_BLOCKS,
        MIDDLE_OF_CHAIN,
        RECOMPUTE_AS_HITS,
        RETRIED_ADMISSION,
        HITS_ABOVE_PROMPT,
        USAGE_ZERO,
        EVICTABLE_IS_NO_LEAK,
        EVICTION_POLICIES,
        AGAINST_REAL_VLLM,
        SCENARIO_A_EXPERIMENT,
        NORMALIZED_LATENCY,
        SCENARIO_B_EXPERIMENT,
        BLOCK_SIZE_IN_TIME,
        WATERMARK,
        SWAP_OR_RECOMPUTE,
        VICTIM_POLICY,
        HEAD_OF_LINE,
        NEVER_FITS,
        FIRST_CHUNK_ONLY,
        RETRACTION,
    )
}


def by_subject() -> dict[str, list[Experiment]]:
    """The experiments as they are listed: those of a subject together; subjects without any are left out."""
    listed = {
        subject: [each for each in EXPERIMENTS.values() if each.subject == subject] for subject in SUBJECTS
    }
    return {subject: experiments for subject, experiments in listed.items() if experiments}
