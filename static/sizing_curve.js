// Users against the length of a user, laid out for a figure "chart"; both axes are logarithmic. Knows no page.

const HEIGHT = 260;
const MOST_LABELS = 9; // along the bottom
const NUMBER = 0.13; // of the width, right of the last point: room for the number of users
const K = 1024;

const format = new Intl.NumberFormat("en-US");

// curve: {context, users} in columns; chosen: the length that is set; colours: of a scheme; thousands(n): the words
// for n times 1,024.
export function layOutCurve({ context, users }, chosen, colours, thousands) {
  const there = context.map((_, i) => i).filter((i) => users[i] > 0); // 0 has no place on this axis
  const xs = there.map((i) => Math.log2(context[i]));
  const ys = there.map((i) => Math.log10(users[i]));
  const at = there.findIndex((i) => context[i] === chosen);
  const [from, to] = [Math.log2(context[0]), Math.log2(context.at(-1))];
  const doubled = range(Math.ceil(from), Math.floor(to));
  const every = Math.ceil(doubled.length / MOST_LABELS);
  const ticks = doubled.filter((_, i) => i % every === 0);
  const highest = Math.max(1, Math.ceil(Math.max(0, ...ys)));
  const tens = range(0, highest);
  return {
    height: HEIGHT,
    x: {
      start: from - 0.25,
      end: to + 0.25 + NUMBER * (to - from),
      ticks,
      labels: ticks.map((power) => [power, 2 ** power >= K ? thousands(2 ** power / K) : String(2 ** power)]),
      grid: false,
    },
    y: { start: -0.08, end: highest + 0.12, ticks: tens, labels: tens.map((power) => [power, format.format(10 ** power)]), grid: true },
    bars: { left: [], right: [], bottom: [], top: [], colour: [], solid: [], hatch: [] },
    lines: { xs: [xs], ys: [ys], colour: [colours.real], dash: ["solid"] },
    points: {
      x: xs,
      y: ys,
      colour: there.map((_, i) => (i === at ? colours.reserved : colours.real)),
      mark: there.map((_, i) => (i === at ? "diamond" : "circle")),
    },
    values: at < 0 ? { x: [], y: [], words: [] } : { x: [xs[at]], y: [ys[at] + 0.1], words: [format.format(users[there[at]])] },
  };
}

const range = (first, last) => Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => first + i);
