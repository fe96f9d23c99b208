import assert from "node:assert/strict";
import test from "node:test";

import { fill } from "../../static/fill.js";

test("a number picks its noun and gets thousands separators", () => {
  assert.equal(fill("{n|block|blocks} of {total}", { n: 1, total: 1024 }), "1 block of 1,024");
  assert.equal(fill("{n|block|blocks}", { n: 2 }), "2 blocks");
});

test("a noun that both forms leave out leaves no space behind", () => {
  assert.equal(fill("{n||}", { n: 3 }), "3");
});

test("a missing field is an error, not a hole in the sentence", () => {
  assert.throws(() => fill("{seq} waits", {}), /seq/);
});
