import assert from "node:assert/strict";
import test from "node:test";

import { csvOf, figureOf, rowsOf, timeLine, timeUnit, written } from "../../static/replay_figures.js";

const RESULT = {
  name: "t.csv",
  partial: false,
  percentiles: { ttft: [1, 2] },
  format: "csv",
  num_requests: 1200,
  num_rejected: 3,
  rejected: { pool: 3 },
  num_steps: 7,
  end_ns: 2_500_000_000,
  capacity: 200,
  mean: { real: 100, reserved: 20, internal: 30, external: 10, usable: 40 },
  mean_running: 2.25,
  max_real: 150,
  ttft: { mean: 1.5, p50: 1, p90: 2, p99: 3, max: 4 },
  time_line: {
    now_ns: [0, 1_000_000_000],
    running: [1, 2],
    waiting: [0, 5],
    real: [100, 50],
    reserved: [0, 50],
    internal: [20, 0],
    external: [0, 0],
    usable: [80, 50],
    cached: [0, 50],
    preemptions: [0, 1],
  },
  utilisation: 0.5,
};

test("slots are shown as shares of the pool", () => {
  assert.deepEqual(written(figureOf("utilisation", RESULT)), ["50.0", "tab.replay.percent"]);
  assert.deepEqual(written(figureOf("internal", RESULT)), ["15.0", "tab.replay.percent"]);
  assert.deepEqual(written(figureOf("max_real", RESULT)), ["75.0", "tab.replay.percent"]);
});

test("counts, means and times are written as the command line writes them", () => {
  assert.deepEqual(written(figureOf("num_requests", RESULT)), ["1,200", ""]);
  assert.deepEqual(written({ value: 2.2, kind: "mean" }), ["2.2", ""]);
  assert.deepEqual(written(figureOf("end_ns", RESULT)), ["2.50", "tab.replay.seconds"]);
});

test("a time below a second is written in milliseconds", () => {
  assert.deepEqual(written({ value: 12_340_000, kind: "time" }), ["12.3", "tab.replay.milliseconds"]);
});

test("rates are means, and what met the SLO is a share", () => {
  const result = { ...RESULT, goodput: 2.25, attainment: 0.125 };
  assert.deepEqual(written(figureOf("goodput", result)), ["2.3", ""]);
  assert.deepEqual(written(figureOf("attainment", result)), ["12.5", "tab.replay.percent"]);
});

test("a stopped replay says so in the CSV, and a figure that only one has leaves the others empty", () => {
  const prefix = { hit_rate: 0.5 };
  const rows = csvOf([
    { settings: { mode: "paged" }, result: { ...RESULT, partial: true } },
    { settings: { mode: "paged" }, result: { ...RESULT, prefix } },
  ]).split("\n").map((row) => row.split(","));
  const at = (name) => rows[0].indexOf(name);
  assert.deepEqual(rows.slice(1, 3).map((row) => row[at("partial")]), ["1", "0"]);
  assert.deepEqual(rows.slice(1, 3).map((row) => row[at("prefix.hit_rate")]), ["", "0.5"]);
});

test("a reason of rejection has a row only where there was one", () => {
  const rows = rowsOf([RESULT]);
  assert.ok(rows.includes("rejected.pool"));
  assert.ok(!rows.includes("rejected.context"));
  assert.ok(!rows.includes("num_hung"));
});

test("the CSV has one row a result, nested names joined by dots, and neither file name nor time line", () => {
  const [head, first, second, end] = csvOf([
    { settings: { mode: "paged", bs: 16 }, result: RESULT },
    { settings: { mode: "contiguous", bs: 16 }, result: RESULT },
  ]).split("\n");
  assert.equal(
    head,
    "mode,bs,partial,num_requests,num_rejected,rejected.context,rejected.pool,num_steps,end_ns,capacity," +
      "mean.real,mean.reserved,mean.internal,mean.external,mean.usable,mean_running,max_real," +
      "ttft.mean,ttft.p50,ttft.p90,ttft.p99,ttft.max,utilisation",
  );
  assert.ok(first.startsWith("paged,16,0,1200,3,0,3,7,"));
  assert.ok(second.startsWith("contiguous,"));
  assert.equal(end, "");
});

test("parts of the time line are stacked to 100 percent of the pool", () => {
  const { parts, unit, end } = timeLine(RESULT);
  assert.deepEqual(parts.real, [50, 25]);
  assert.deepEqual(parts.internal, [60, 50]);
  assert.deepEqual(parts.cached, [60, 75]);
  assert.deepEqual(parts.usable, [100, 100]);
  assert.deepEqual([unit, end], ["s", 2.5]);
});

test("long times are told in minutes and hours", () => {
  assert.deepEqual([60e9, 1200e9, 36_000e9].map((ns) => timeUnit(ns)[0]), ["s", "min", "h"]);
});

test("a replay without a step has an empty time line", () => {
  const empty = Object.fromEntries(Object.keys(RESULT.time_line).map((name) => [name, []]));
  assert.deepEqual(timeLine({ ...RESULT, end_ns: 0, time_line: empty }).parts.x, []);
});
