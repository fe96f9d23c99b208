import assert from "node:assert/strict";
import test from "node:test";

import { nearest } from "../../static/fields.js";

const WORDS = { choices: ["16", "8", "4"], fallback: "16" };
const WHOLE = { low: 1, high: 128, whole: true, fallback: "2" };
const PERCENT = { low: 1, high: 100, whole: false, fallback: "90" };

test("what is allowed is taken as it is, and nothing is told", () => {
  for (const [given, rule, used] of [["8", WORDS, "8"], ["128", WHOLE, 128], [" 7 ", WHOLE, 7], ["92.5", PERCENT, 92.5], ["90.0", PERCENT, 90]]) {
    assert.deepEqual(nearest(given, rule), { used, correction: null });
  }
});

test("what is not given is the default, and nothing is told", () => {
  assert.deepEqual(nearest(undefined, WORDS), { used: "16", correction: null });
  assert.deepEqual(nearest(null, WHOLE), { used: 2, correction: null });
});

test("a number out of bounds is taken for the nearest one in them", () => {
  assert.deepEqual(nearest("0", WHOLE), { used: 1, correction: { value: "0", used: 1, expected: "1 … 128" } });
  assert.equal(nearest("9".repeat(30), WHOLE).used, 128);
  assert.equal(nearest("-0.5", PERCENT).used, 1);
});

test("what is no number of the kind, or no choice, is taken for the default", () => {
  for (const given of ["", "NaN", "1e3", "1.5", "<b>"]) {
    const { used, correction } = nearest(given, WHOLE);
    assert.equal(used, 2);
    assert.equal(correction.value, given);
  }
  assert.deepEqual(nearest("5", WORDS), { used: "16", correction: { value: "5", used: "16", expected: "16, 8, 4" } });
});

test("only the beginning of very long words is repeated", () => {
  assert.equal(nearest("y".repeat(3000), WORDS).correction.value.length, 40);
});
