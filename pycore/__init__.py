"""The simulator: how an LLM serving engine manages its KV-cache memory. Standard library only.

Begin with `engine`: a step is arrivals, schedule, time, advance. This is the map, from the ground up.

    rng                                 seeded streams: the same integers on every platform
    block_tokens                        tokens that are known by blocks only
    named_tuples                        small records: made at once, and the words for them
    prompt                              what a prompt says: tokens, salt, adapter, media
    request                             what was asked (Request), how far it got (Sequence)
    events                              everything that can happen, in the field's words
    events.request_events               what became of a request
    events.memory_events                what memory did
    events.event_log                    what happened in a step, in order
    specs                               figures of models and GPUs, each with its source
    specs.model_spec                    the shape of a transformer
    specs.gpu_spec                      what a GPU can do
    specs.dense_models                  models with one MLP a layer
    specs.expert_models                 mixtures of experts
    specs.models                        all models by name
    specs.gpus                          GPUs
    specs.catalogue                     both found by name, or names that are near
    specs.kv_size                       how large the KV of a context is
    specs.deployment                    a model on GPUs, at some precision

    workload                            where requests come from
    workload.load                       the requests of a run, and when they come
    workload.prefix_loads               small loads whose prompts say what they share
    workload.synthetic                  loads made from a seed
    workload.lognormal                  lengths with a heavy tail
    workload.poisson                    requests that arrive at random, one at a time
    workload.few_shot                   prompts with token ids, which share examples
    workload.common_prompt              prompts with a beginning in common
    workload.multi_turn                 chats whose prompts grow turn by turn
    workload.block_chats                prompts told by ids of blocks: chats, and documents in a circle
    workload.trace                      the requests of a file, and how they were read
    workload.trace_file                 opens a trace file and reads it in chunks
    workload.trace_reading              a file being read: rows in, requests out
    workload.trace_rows                 the rows of CSV and JSONL files
    workload.trace_columns              which columns hold lengths and arrivals
    workload.trace_prompt               what a row says of its prompt: ids of blocks, or tokens
    workload.trace_cell                 one cell, from text to an integer
    workload.trace_problem              what is wrong with a file, and where

    prefix_cache                        which slots already hold the KV of a prefix
    prefix_cache.prefix_cache           the protocol
    prefix_cache.node                   a stretch of tokens, and where their KV lies
    prefix_cache.eviction               which leaf is given up first
    prefix_cache.columns                the tree as columns to draw
    prefix_cache.rules                  whose tree it is
    prefix_cache.radix                  a radix tree: reuse to the token
    prefix_cache.prompt_key             under what a radix tree finds a prompt
    prefix_cache.block_hash             the key of a block, from its tokens and its parent's key
    prefix_cache.hash_chain             which blocks have which key, and the longest cached prefix
    prefix_cache.chain_history          how keys hang together, for a picture
    prefix_cache.prefix_stats           hits, those of preempted requests apart

    hit_rate                            how much of a trace a prefix cache could reuse, without an engine
    hit_rate.prefix_trie                the blocks of all prompts as one tree, and when each is wanted next
    hit_rate.block_cache                caches of these blocks, by policy: the optimal one too
    hit_rate.hit_rate                   hit tokens by policy and size

    memory                              who owns which token slot
    memory.allocator                    the protocol between scheduler and memory
    memory.free_list                    in which order free blocks are handed out
    memory.free_queue                   the same where some free blocks are cached
    memory.block_pool                   the physical blocks and their reference counts
    memory.caching_pool                 a pool whose blocks are free, in use, or cached
    memory.block_table                  logical to physical, for one sequence
    memory.steady_tables                tables that take a token a step, counted together
    memory.swapping                     how groups leave paged memory and come back
    memory.paged                        blocks on demand, from anywhere in the pool
    memory.counted                      the same where nobody asks which block is whose
    memory.tree_pool                    the same, the cached ones named by a radix tree
    memory.prefix_reuse                 paged, and blocks are found again: what all such memory shares
    memory.prefix_caching               full blocks are found again, by their keys
    memory.radix_caching                pages are found again, in a radix tree
    memory.holdings                     what block tables come to: map, waste, invariants
    memory.placement                    where a contiguous region goes: first fit, buddy
    memory.contiguous                   one region a sequence, reserved at admission
    memory.memory_map                   holdings and holes, as read-only columns
    memory.waste                        where the slots go: real tokens, three wastes, usable
    memory.move                         a copy of a block that the owner of the KV is asked for
    memory.swap_space                   CPU blocks of preempted groups

    scheduling                          who runs next
    scheduling.batch                    what one forward pass computes
    scheduling.outcome                  what came of it
    scheduling.retraction               SGLang's way: who gives way, and the share set aside after it
    scheduling.policies                 which sequence is preempted, and who waits where
    scheduling.rules                    how real engines decide a step
    scheduling.waiting_queue            who waits, and why
    scheduling.admission                whether the head of the queue may run
    scheduling.rejections               who is turned away
    scheduling.recovery                 how memory is taken from a group and given back
    scheduling.cohort                   those that decode, counted together
    scheduling.progress                 what a forward pass did to those that run
    scheduling.growth                   room for those that run, by preemption if need be
    scheduling.intake                   those who wait are let in
    scheduling.queue_order              in which order waiting requests are admitted
    scheduling.foresight                steps that are decided already
    scheduling.scheduler                first come, first served, over memory that may say no

    model_runner                        which token comes next, and which sequences part
    cost_model                          how long a batch takes, in integer nanoseconds
    cost_model.step_time                the protocol
    cost_model.work                     what a forward pass computes, in few numbers
    cost_model.fixed_step               equal steps
    cost_model.roofline                 arithmetic or memory traffic, whichever takes longer
    cost_model.serial_kernels           the sum of both
    cost_model.decode_line              decode steps of one batch size, one or many
    cost_model.rate                     amounts to nanoseconds, exactly and summed
    cost_model.efficiency               how much of a data sheet is reached
    cost_model.attention_work           what attention computes and reads
    cost_model.all_reduce               what tensor parallelism pays
    cost_model.host_link                copies between GPU and CPU
    capacity                            how much KV cache there is room for, term by term
    engine                              the serving engine: start here
    snapshot                            what is, after a step: immutable columns
    recorder                            the whole run kept, for going back and forth in it
    metrics                             what a run comes to
    config                              settings
    assembly                            the one place where the parts of an engine are wired
    fast_forward                        the engine in leaps over steps that decide nothing
    time_line                           means of a run over time
    step_totals                         what the steps of a replay add up to
    samples                             very many integers, and their percentiles
    latency                             how long requests took, and whether that was promised
    replay_result                       what a replay came to
    replay                              a trace through the engine, no step kept whole
    largest_rate                        how many requests a second an engine can take

    fidelity                            predictions held against measured runs
    fidelity.measured_run               a run that was measured, and what became of its requests
    fidelity.run_files                  reads its folder
    fidelity.prediction                 the same run in the simulator, scheduled a step ahead
    fidelity.fit                        efficiency factors from one run
    fidelity.factors                    which factors a run is predicted with
    fidelity.comparison                 errors, and the goals they are held to
    fidelity.transcript                 measured runs as columns of text
    fidelity.rtx4090_llama              one that is carried along
    fidelity.rtxpro6000_qwen            another one

    attention                           real attention over the blocks, with numpy: a tiny transformer
    attention.rotary                    positions as angles
    attention.weights                   the shape of the transformer, and its weights
    attention.online_softmax            softmax over pieces
    attention.grouped_query             scores and attention with fewer KV heads than query heads
    attention.kv_store                  the protocol between transformer and memory
    attention.dense_store               one contiguous array a sequence
    attention.block_arrays              the physical blocks of one device, as arrays
    attention.paged_store               keys and values through block tables
    attention.transformer               tokens in, logits out
    attention.sampling                  from logits to the next token, in integers
    attention.runner                    the transformer as the engine's model runner
    attention.generation                one sequence alone: the reference
    attention.trace                     one query against scattered blocks, step by step

    experiments                         questions, each with the claims its result should bear out
    experiments.experiment              what an experiment is
    experiments.result                  what it found: figures, tables, charts
    experiments.keys                    tables and charts in few words
    experiments.fragmentation           paged blocks against contiguous regions
    experiments.fragmentation_run       one setup of it, run and accounted for
    experiments.external_fragmentation  enough free in all, but not in one piece
    experiments.block_size              what the size of a block costs
    experiments.parallel_sampling       several answers to one prompt
    experiments.group_run               one group alone in memory, watched while it shares
    experiments.beam_search             beams that fork and are dropped
    experiments.beam_run                one search, and the same without any KV
    experiments.eviction_policies       which block a prefix cache should give up
    experiments.hit_rate_curve          hit rates by policy and capacity, as table and chart
    experiments.shared_prefix           a system prompt kept in memory
    experiments.mixed_decoding          plain, parallel and beam in one batch
    experiments.load_run                a load that shares, run and counted
    experiments.paged_attention         attention over scattered blocks
    experiments.attention_run           six requests together, and each alone
    experiments.refcount_bug            when a reference count is wrong
    experiments.refcount_run            three requests, with the counts and without
    experiments.few_shot_order          who is served first, and what is reused for it
    experiments.theorem                 depth first is optimal, from one request's size on
    experiments.multi_turn              chats of several turns, and whose history is still cached
    experiments.hash_or_radix           block hashes against a radix tree
    experiments.short_prefix            a prefix that fills no block
    experiments.partial_blocks          useless blocks that push out useful ones
    experiments.middle_of_chain         which block of a chain goes first
    experiments.capacity_below_request  a cache that is smaller than a request
    experiments.block_run               the run behind the experiments on blocks
    experiments.hit_rate_is_not_time    what a hit saves, in seconds
    experiments.prefill_time            what prefills cost on a GPU
    experiments.starvation              who starves, and what it costs to be fair
    experiments.recompute_as_hits       preempted requests that find their own blocks
    experiments.retried_admission       a waiting request that is counted in every step
    experiments.hits_above_prompt       more tokens found than the prompt has
    experiments.usage_zero              a pool in no use, full of prefixes
    experiments.evictable_is_no_leak    memory that does not come back, and a leak
    experiments.against_real_vllm       predicted against measured
    experiments.admission_run           the run behind the experiments on admissions
    experiments.prefix_run              the run behind the experiments on order
    experiments.serving_run             the run behind the experiments on serving
    experiments.scenario_a              four managers of memory on a tight GPU
    experiments.normalized_latency      latency against rate, five managers
    experiments.scenario_b              the managers where memory is not tight
    experiments.block_size_in_time      throughput by block size, without and with the kernel
    experiments.watermark               how much an admission leaves free
    experiments.swap_or_recompute       how a preempted request gets its KV back
    experiments.victim_policy           whom to preempt
    experiments.head_of_line            one huge request before all others
    experiments.never_fits              a request larger than the pool
    experiments.first_chunk_only        admission by the first chunk alone
    experiments.retraction              the batch after a retraction
"""
