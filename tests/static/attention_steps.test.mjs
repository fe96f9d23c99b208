import assert from "node:assert/strict";
import test from "node:test";

import { weightsAfter } from "../../static/attention_steps.js";

// Online softmax over two tiles, its running maximum and sum worked out here.
const scores = [[0.5, -1], [2, 0]];
const first = Math.exp(0) + Math.exp(-1.5);
const trace = { scores, maximum: [0.5, 2], total: [first, first * Math.exp(-1.5) + Math.exp(0) + Math.exp(-2)] };

test("weights add up to 1 after every tile, and in the end are those of one softmax", () => {
  for (const at of [0, 1]) {
    const sum = weightsAfter(trace, at).reduce((a, b) => a + b);
    assert.ok(Math.abs(sum - 1) < 1e-12, `${sum}`);
  }
  const all = scores.flat();
  const whole = all.reduce((sum, score) => sum + Math.exp(score), 0);
  weightsAfter(trace, 1).forEach((weight, i) => assert.ok(Math.abs(weight - Math.exp(all[i]) / whole) < 1e-12));
});

test("a tile that is not read yet has no weights", () => {
  assert.equal(weightsAfter(trace, 0).length, 2);
});
