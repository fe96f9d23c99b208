// Lines of up to three replays laid over each other, for figures "chart": over time, and distributions of
// latencies. Knows no figure and no page.

import { roundTicks } from "./chart_layout.js";
import { timeUnit } from "./replay_figures.js";

const HEIGHT = 190;
const SHARES = [0, 25, 50, 75, 100];
const MS = 1e6;

// How the lines of the first, second and third replay look: role of the colour, dash.
export const LOOKS = [
  ["real", "solid"],
  ["reserved", "dashed"],
  ["external", "dotted"],
];

export const OVER_TIME = ["running", "waiting", "real", "preemptions", "cached"];
export const LATENCIES = ["ttft", "tpot", "end_to_end"];
const OF_POOL = new Set(["real", "cached"]); // slots, shown as a share of the pool

const format = new Intl.NumberFormat("en-US", { maximumFractionDigits: 2 });
const label = (tick) => [tick, format.format(tick)];

const hasCached = ({ time_line: line }) => Boolean(line.cached?.some((slots) => slots > 0));

// Which charts there are: [{name, kind: "time" | "latency", unit: "share" | "count" | "requests"}].
export function chartsOf(results) {
  const shown = OVER_TIME.filter((name) => name !== "cached" || results.some(hasCached));
  return [
    ...shown.map((name) => ({ name, kind: "time", unit: OF_POOL.has(name) ? "share" : "count" })),
    ...LATENCIES.map((name) => ({ name, kind: "latency", unit: "requests" })),
  ];
}

function laid(x, y, lines, colours) {
  return {
    height: HEIGHT,
    x,
    y,
    bars: { left: [], right: [], bottom: [], top: [], colour: [], solid: [], hatch: [] },
    lines: {
      xs: lines.map((line) => line.xs),
      ys: lines.map((line) => line.ys),
      colour: lines.map((_, i) => colours[LOOKS[i][0]]),
      dash: lines.map((_, i) => LOOKS[i][1]),
    },
    points: { x: [], y: [], colour: [], mark: [] },
    values: { x: [], y: [], words: [] },
  };
}

// When the longest of the replays ends, in the unit of all of their time axes: {unit, ns, end}.
export function timeAxis(results) {
  const last = Math.max(1, ...results.map(({ end_ns: end, time_line: line }) => Math.max(end, line.now_ns.at(-1) ?? 0)));
  const [unit, ns] = timeUnit(last);
  return { unit, ns, end: last / ns };
}

// One series of each replay over time.
export function overTime(results, { name, unit }, colours) {
  const { ns, end } = timeAxis(results);
  const lines = results.map(({ time_line: line, capacity }) => ({
    xs: line.now_ns.map((start) => start / ns),
    ys: line[name].map((value) => (unit === "share" ? (100 * value) / capacity : value)),
  }));
  const most = lines.reduce((top, { ys }) => ys.reduce((a, b) => Math.max(a, b), top), 0);
  const ticks = unit === "share" ? SHARES : roundTicks(most, 4);
  const times = roundTicks(end, 6).filter((tick) => tick <= end);
  return laid(
    { start: 0, end, ticks: times, labels: times.map(label), grid: false },
    { start: 0, end: ticks.at(-1) * 1.03, ticks, labels: ticks.map(label), grid: true },
    lines,
    colours,
  );
}

// Round times in ns between two of them: 1, 10, 100 … and, where these are few, 2 and 5 between.
function roundTimes(from, to) {
  const factors = Math.log10(to / from) < 2 ? [1, 2, 5] : [1];
  const ticks = [];
  for (let power = Math.floor(Math.log10(from)); 10 ** power <= to; power++) {
    ticks.push(...factors.map((factor) => factor * 10 ** power).filter((ns) => ns >= from * 0.999 && ns <= to * 1.001));
  }
  return ticks;
}

// How many requests (percent) got by within a time, of each replay; times are logarithmic. words(ns) names a tick.
export function distribution(results, { name }, colours, words) {
  const lines = results.map(({ percentiles }) => ({
    xs: percentiles[name].map((ns) => Math.log10(Math.max(1, ns))),
    ys: percentiles[name].map((_, percent) => percent),
  }));
  const all = lines.flatMap(({ xs }) => xs);
  const [from, to] = all.length ? [Math.min(...all), Math.max(...all)] : [Math.log10(MS), Math.log10(1000 * MS)];
  const edge = Math.max(0.02 * (to - from), 0.04);
  const ticks = roundTimes(10 ** (from - edge), 10 ** (to + edge)).map((ns) => [Math.log10(ns), words(ns)]);
  return laid(
    { start: from - edge, end: to + edge, ticks: ticks.map(([tick]) => tick), labels: ticks, grid: true },
    { start: 0, end: 101, ticks: SHARES, labels: SHARES.map(label), grid: true },
    lines,
    colours,
  );
}

const ROWS = 16; // of a time line's table, at most

// The shown replay's time line as rows: [start in ns, {name: value}], evenly spread over its points.
export function timeRows({ time_line: line }) {
  const points = line.now_ns.length;
  const step = Math.max(1, Math.ceil(points / ROWS));
  return Array.from({ length: Math.ceil(points / step) }, (_, i) => i * step).map((i) => [
    line.now_ns[i],
    Object.fromEntries(Object.keys(line).map((name) => [name, line[name][i]])),
  ]);
}

export const SHOWN_PERCENTILES = [5, 10, 25, 50, 75, 90, 95, 99, 100];
