import assert from "node:assert/strict";
import test from "node:test";

import { parseParam, readParams, settingsWords } from "../../static/experiment_form.js";

const SEED = { name: "seed", kind: "int", minimum: 0, maximum: 99, choices: [] };
const WAY = { name: "way", kind: "choice", choices: ["up", "down"] };
const LOUD = { name: "loud", kind: "bool", choices: [] };
const DECLARED = {
  name: "double",
  params: [SEED, WAY, LOUD],
  presets: [
    { name: "plain", settings: { seed: 5, way: "up", loud: false } },
    { name: "other", settings: { seed: 7, way: "down", loud: true } },
  ],
};

test("words of an address become settings of their kind", () => {
  assert.equal(parseParam(SEED, "12"), 12);
  assert.equal(parseParam(WAY, "down"), "down");
  assert.equal(parseParam(LOUD, "1"), true);
  assert.equal(parseParam(LOUD, "false"), false);
});

test("words that stand for no setting are none", () => {
  for (const [param, words] of [[SEED, "100"], [SEED, "-1"], [SEED, "1.5"], [SEED, ""], [SEED, "x"], [WAY, "<b>"], [LOUD, "yes"]]) {
    assert.equal(parseParam(param, words), undefined, words);
  }
});

test("without words the first preset holds", () => {
  assert.deepEqual(readParams(DECLARED, {}), { settings: DECLARED.presets[0].settings, corrections: [] });
});

test("single settings go over those of the preset", () => {
  const { settings, corrections } = readParams(DECLARED, { preset: "other", seed: "9", lang: "zh" });
  assert.deepEqual(settings, { seed: 9, way: "down", loud: true });
  assert.deepEqual(corrections, []);
});

test("what cannot be had is told with place, value and what was expected", () => {
  const { settings, corrections } = readParams(DECLARED, { preset: "none", seed: "<script>", way: "left" });
  assert.deepEqual(settings, DECLARED.presets[0].settings);
  assert.deepEqual(corrections, [
    { key: "preset", value: "none", used: "plain", expected: "plain, other" },
    { key: "seed", value: "<script>", used: "5", expected: "0 … 99" },
    { key: "way", value: "left", used: "up", expected: "up, down" },
  ]);
});

test("equal settings have equal words whatever their order", () => {
  assert.equal(settingsWords({ a: 1, b: "x" }), settingsWords({ b: "x", a: 1 }));
  assert.notEqual(settingsWords({ a: 1 }), settingsWords({ a: "1" }));
});
