"""The radix tree does what SGLang's and mini-sglang's own code did."""

import re
from collections.abc import Hashable

import pytest

from pycore.prefix_cache.eviction import EVICTION, slru
from pycore.prefix_cache.radix import RadixCache
from pycore.prefix_cache.rules import MINI_SGLANG
from tests.pycore.golden_engines.cases import cases
from tests.pycore.golden_engines.tree import drawn, in_order


def cache_of(given: dict, **rules) -> RadixCache:
    """The tree that a case asks for."""
    policy = given.get("policy", "lru")
    config = dict(given.get("policy_config") or {})
    chosen = slru(config.pop("protected_threshold")) if config and policy == "slru" else EVICTION[policy]
    assert not config, f"no such setting: {config}"
    return RadixCache(given["page_size"], chosen, **rules)


def namespace_of(options: dict) -> Hashable:
    """What keeps a prompt apart from others; takes it out of the options."""
    extra, salt = options.pop("extra_key", None), options.pop("cache_salt", None)
    return (extra, salt) if salt else extra


def values_for(tokens: list[int], page_size: int) -> list[int]:
    """The first token of each whole page, so that a value tells what it should hold."""
    return tokens[: len(tokens) - len(tokens) % page_size : page_size]


def freed(cache: RadixCache, num_tokens: int) -> list[list[int]]:
    """Evicts; returns the tokens of each leaf, once its values have proved to be theirs."""
    leaves = cache.evict(num_tokens)
    for leaf in leaves:
        assert list(leaf.values) == values_for(list(leaf.tokens), cache.page_size)
    return [list(leaf.tokens) for leaf in leaves]


def sizes(cache: RadixCache) -> dict:
    cache.check()
    return {"evictable": cache.evictable, "protected": cache.protected, "total": cache.total}


def replay(given: dict) -> list[dict]:
    """Runs the operations of an R case; an operation or option that is not known fails."""
    cache, names, out = cache_of(given), {}, []
    for op, *args in given["ops"]:
        if op == "insert":
            tokens, options = args[0], dict(args[1]) if len(args) > 1 else {}
            told = dict(options)
            values = values_for(tokens, cache.page_size)
            priority, extra = options.pop("priority", 0) or 0, namespace_of(options)
            counted = options.pop("inserted_len", 0)
            assert not options, f"no such option: {options}"
            held = cache.insert(tokens, values, priority, extra, counted).num_held
            out.append({"op": op, "tokens": tokens, **told, "existing_prefix": held, **sizes(cache)})
        elif op == "match":
            tokens, name, options = args[0], None, {}
            for each in args[1:]:
                name, options = (name, dict(each)) if isinstance(each, dict) else (each, options)
            found = cache.match(tokens, namespace_of(options))
            assert not options, f"no such option: {options}"
            names[name] = found.node
            assert list(found.values) == values_for(tokens[: found.num_tokens], cache.page_size)
            told = {key: value for each in args[1:] if isinstance(each, dict) for key, value in each.items()}
            out.append({"op": op, "tokens": tokens, **told, "hit": found.num_tokens, **sizes(cache)})
        elif op == "lock":
            out.append({"op": op, "name": args[0], "delta": -cache.lock(names[args[0]]), **sizes(cache)})
        elif op == "unlock":
            out.append({"op": op, "name": args[0], "delta": cache.unlock(names[args[0]]), **sizes(cache)})
        elif op == "evict":
            gone = freed(cache, args[0])
            out.append(
                {
                    "op": op,
                    "requested": args[0],
                    "evicted": sum(map(len, gone)),
                    "evicted_values": gone,
                    **sizes(cache),
                }
            )
        elif op == "tree":
            out.append({"op": op, "tree": drawn(cache, "lock", hits=True)})
        else:
            pytest.fail(f"no such operation: {op}")
    return out


def serve(given: dict) -> list[dict]:
    """Runs prompts one after the other over a pool that cache and running request share."""
    cache, capacity, page, out = cache_of(given), given["capacity_tokens"], given["page_size"], []
    for i, prompt in enumerate(given["prompts"]):
        match = cache.match(prompt[:-1])
        cache.lock(match.node)
        need, free = -(-len(prompt) // page) * page - match.num_tokens, capacity - cache.total
        gone = freed(cache, need - free) if need > free else []
        fits = need <= capacity - cache.total
        if fits:
            cache.insert(prompt, values_for(prompt, page))
        cache.unlock(match.node)
        out.append(
            {
                "prompt": i,
                "hit": match.num_tokens,
                "evicted_tokens": sum(map(len, gone)),
                "evicted_values": gone,
                "inserted": fits,
                **sizes(cache),
            }
        )
    return out


def replay_mini(given: dict) -> list[dict]:
    """Runs the operations of an M case."""
    cache, names, out = cache_of(given, rules=MINI_SGLANG), {}, []
    for op, *args in given["ops"]:
        told: dict = {"op": op}
        if op == "insert":
            told["tokens"] = args[0]
            told["existing_prefix"] = cache.insert(args[0], values_for(args[0], cache.page_size)).num_held
        elif op == "match":
            found = cache.match(args[0])
            names[args[1] if len(args) > 1 else None] = found.node
            told |= {"tokens": args[0], "hit": found.num_tokens}
        elif op in ("lock", "unlock"):
            getattr(cache, op)(names[args[0]])
        elif op == "evict":
            told["requested"] = args[0]
            try:
                told["evicted_values"] = [token for leaf in freed(cache, args[0]) for token in leaf]
            except ValueError as refused:
                told["error"] = re.findall(r"\d+", str(refused))
        else:
            pytest.fail(f"no such operation: {op}")
        cache.check()
        told |= {"evictable": cache.evictable, "protected": cache.protected}
        out.append({**told, "tree": drawn(cache, "ref", hits=False)})
    return out


def comparable(result: list[dict]) -> list[dict]:
    """A case's result with siblings in one order, and of a refusal only the numbers: words are ours."""
    return [
        {
            **each,
            **({"tree": in_order(each["tree"])} if "tree" in each else {}),
            **({"error": re.findall(r"\d+", each["error"])} if "error" in each else {}),
        }
        for each in result
    ]


@pytest.mark.parametrize("case", cases("R"))
def test_the_tree_does_what_sglang_did(case):
    run = serve if "prompts" in case["input"] else replay
    assert run(case["input"]) == comparable(case["result"])


@pytest.mark.parametrize("case", cases("M"))
def test_the_tree_does_what_mini_sglang_did(case):
    assert replay_mini(case["input"]) == comparable(case["result"])
