import assert from "node:assert/strict";
import test from "node:test";

import { axisOf, isUpright, layOut, legendOf, looksOf, roundTicks } from "../../static/chart_layout.js";

const COLOURS = { real: "blue", reserved: "orange", internal: "red", external: "violet", usable: "grey", finish: "green" };
const PARTS = { real: " ", reserved: "/", internal: "x", external: ".", usable: " " };

const chart = (kind, x, series, more = {}) => ({
  key: "title",
  kind,
  x,
  x_kind: typeof x[0] === "string" ? "key" : "int",
  x_label: "x",
  x_unit: "tokens",
  y_label: "y",
  y_unit: "requests",
  series: series.map(([key, values]) => ({ key, values })),
  ...more,
});
const lay = (each) => layOut(each, (key) => key.toUpperCase(), COLOURS, PARTS);

test("ticks are round, begin at 0 and reach the largest value", () => {
  assert.deepEqual(roundTicks(9.7), [0, 2, 4, 6, 8, 10]);
  assert.deepEqual(roundTicks(1377), [0, 500, 1000, 1500]);
  assert.deepEqual(roundTicks(0.3), [0, 0.1, 0.2, 0.3]);
  for (const most of [1, 7, 23, 99.9, 100, 12_345]) {
    const ticks = roundTicks(most);
    assert.ok(ticks.at(-1) >= most && ticks.at(-2) < most, `${ticks} for ${most}`);
  }
});

test("nothing but zeros still has an axis", () => {
  assert.deepEqual(roundTicks(0), [0, 1]);
});

test("names are rows, read from the top, with the value at the end of a bar", () => {
  const byName = chart("bar", ["first", "second"], [["s", [3, 5]]]);
  const laid = lay(byName);
  assert.equal(isUpright(byName), false);
  assert.deepEqual(laid.y.labels, [[1, "FIRST"], [0, "SECOND"]]);
  assert.deepEqual(laid.bars.right, [3, 5]);
  assert.deepEqual(laid.bars.left, [0, 0]);
  assert.deepEqual(laid.values, { x: [3, 5], y: [1, 0], words: ["3", "5"] });
});

test("numbers stand along the bottom, evenly spaced", () => {
  const bySize = chart("bar", [1, 16, 256], [["s", [3, 5, 8]]]);
  const laid = lay(bySize);
  assert.equal(isUpright(bySize), true);
  assert.deepEqual(laid.x.labels, [[0, "1"], [1, "16"], [2, "256"]]);
  assert.deepEqual(laid.bars.bottom, [0, 0, 0]);
  assert.deepEqual(laid.bars.top, [3, 5, 8]);
});

test("stacked bars lie upon each other and skip what was not measured", () => {
  const laid = lay(chart("stacked_bar", ["a"], [["s", [3]], ["t", [null]], ["u", [4]]]));
  assert.deepEqual(laid.bars.left, [0, 3]);
  assert.deepEqual(laid.bars.right, [3, 7]);
});

test("shares of a whole end at the whole", () => {
  const percent = { y_unit: "experiment.unit.percent" };
  assert.equal(lay(chart("stacked_bar", ["a"], [["s", [60]], ["t", [40.1]]], percent)).x.end, 100);
  assert.ok(lay(chart("stacked_bar", ["a"], [["s", [60]], ["t", [20]]], percent)).x.end < 100);
});

test("bars of several series stand beside each other and do not overlap", () => {
  const { bars } = lay(chart("bar", [1, 2], [["s", [1, 2]], ["t", [3, 4]]]));
  const edges = bars.left.map((left, i) => [left, bars.right[i]]).sort(([a], [b]) => a - b);
  edges.slice(1).forEach(([left], i) => assert.ok(left >= edges[i][1] - 1e-9));
  assert.equal(edges.length, 4);
});

test("a line leaves out what was not measured and marks every point", () => {
  const { lines, points } = lay(chart("line", [1, 2, 4], [["s", [5, null, 7]], ["t", [1, 2, 3]]]));
  assert.deepEqual(lines.xs, [[0, 2], [0, 1, 2]]);
  assert.deepEqual(lines.ys, [[5, 7], [1, 2, 3]]);
  assert.equal(points.x.length, 5);
});

test("series differ by more than their colour", () => {
  const three = [["s", [1]], ["t", [2]], ["u", [3]]];
  for (const [kind, marks] of [["line", ["dash", "mark"]], ["stacked_bar", ["hatch"]]]) {
    for (const mark of marks) {
      assert.equal(new Set(looksOf(chart(kind, [1], three), COLOURS, PARTS).map((look) => look[mark])).size, 3);
    }
  }
});

test("parts of the pool look as everywhere on the page", () => {
  const [look] = looksOf(chart("stacked_bar", ["a"], [["experiment.part.external", [1]]]), COLOURS, PARTS);
  assert.deepEqual([look.colour, look.hatch], ["violet", "."]);
});

test("a single series needs no legend, and rows need no name for their axis", () => {
  assert.deepEqual(legendOf(chart("bar", ["a"], [["s", [1]]]), COLOURS, PARTS), []);
  assert.equal(axisOf(chart("bar", ["a"], [["s", [1]]])).position, null);
  assert.deepEqual(axisOf(chart("bar", [1], [["s", [1]]])), { value: ["y", "requests"], position: ["x", "tokens"] });
});
