import assert from "node:assert/strict";
import test from "node:test";

import { chartsOf, distribution, overTime, timeAxis, timeRows } from "../../static/replay_lines.js";

const COLOURS = { real: "blue", reserved: "brown", external: "violet" };
const line = (over) => ({
  now_ns: [0, 1e9, 2e9],
  running: [1, 3, 2],
  waiting: [0, 0, 0],
  real: [10, 50, 100],
  preemptions: [0, 0, 1],
  cached: [0, 0, 0],
  ...over,
});
const replay = (over = {}) => ({
  end_ns: 3e9,
  capacity: 200,
  percentiles: { ttft: Array.from({ length: 101 }, (_, p) => 1e6 * (1 + p)), tpot: [], end_to_end: [] },
  time_line: line(),
  ...over,
});
const words = (ns) => `${ns / 1e6} ms`;

test("three replays are three lines that differ in colour and in dash", () => {
  const { lines } = overTime([replay(), replay(), replay()], { name: "running", unit: "count" }, COLOURS);
  assert.equal(new Set(lines.colour).size, 3);
  assert.equal(new Set(lines.dash).size, 3);
});

test("all lines share one time axis, as long as the longest replay and in one unit", () => {
  const long = replay({ end_ns: 600e9 });
  assert.deepEqual(timeAxis([replay(), long]), { unit: "min", ns: 60e9, end: 10 });
  const { x, lines } = overTime([replay(), long], { name: "running", unit: "count" }, COLOURS);
  assert.deepEqual([x.start, x.end, x.ticks.at(-1)], [0, 10, 10]);
  assert.deepEqual(lines.xs[0], [0, 1 / 60, 2 / 60]);
});

test("slots are drawn as a share of each replay's own pool", () => {
  const small = replay({ capacity: 100 });
  const { lines, y } = overTime([replay(), small], { name: "real", unit: "share" }, COLOURS);
  assert.deepEqual(lines.ys, [[5, 25, 50], [10, 50, 100]]);
  assert.ok(y.end >= 100);
});

test("cached memory has a chart only where there was some", () => {
  const names = (results) => chartsOf(results).map(({ name }) => name);
  assert.ok(!names([replay()]).includes("cached"));
  assert.ok(names([replay(), replay({ time_line: line({ cached: [0, 5, 0] }) })]).includes("cached"));
});

test("a distribution rises from the shortest to the longest time, on a logarithmic axis", () => {
  const { lines, x, y } = distribution([replay()], { name: "ttft" }, COLOURS, words);
  assert.deepEqual([lines.xs[0][0], lines.xs[0].at(-1)], [6, Math.log10(101e6)]);
  assert.deepEqual([lines.ys[0][0], lines.ys[0].at(-1)], [0, 100]);
  assert.ok(x.start < 6 && x.end > Math.log10(101e6));
  assert.deepEqual(x.labels.map(([, name]) => name), ["1 ms", "10 ms", "100 ms"]);
  assert.ok(y.end > 100);
});

test("times that lie close together still have round ticks", () => {
  const close = replay({ percentiles: { ttft: [21e6, 30e6, 55e6] } });
  const { x } = distribution([close], { name: "ttft" }, COLOURS, words);
  assert.deepEqual(x.labels.map(([, name]) => name), ["20 ms", "50 ms"]);
});

test("a latency that no request has is an empty line", () => {
  const { lines, x } = distribution([replay()], { name: "tpot" }, COLOURS, words);
  assert.deepEqual(lines.xs, [[]]);
  assert.ok(x.end > x.start);
});

test("the table of a long time line has a bounded number of rows, the first of them its start", () => {
  const long = replay({ time_line: { now_ns: [...Array(512).keys()], running: Array(512).fill(1) } });
  const rows = timeRows(long);
  assert.equal(rows.length, 16);
  assert.deepEqual(rows[0], [0, { now_ns: 0, running: 1 }]);
  assert.deepEqual(timeRows(replay({ time_line: { now_ns: [], running: [] } })), []);
});
