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

test("numbers are written as the browser's own formatter writes them", () => {
  const formatter = new Intl.NumberFormat("en-US", { maximumFractionDigits: 1 });
  for (const value of [0, 7, 12, 999, 1000, 1024.25, 65_536, 999_999.96, 1_234_567.8, -3, -1_500.5, 0.04, 1.45, 123_456_789]) {
    assert.equal(fill("{n}", { n: value }), formatter.format(value));
  }
});
