// From a chart of a report to rectangles, lines and ticks. Knows no figure and no page.

const ROLES = ["real", "reserved", "external", "finish", "internal"];
const DASHES = ["solid", "dashed", "dotted", "dotdash", "dashdot"];
const MARKS = ["circle", "square", "triangle", "diamond", "inverted_triangle"];
const HATCHES = [" ", "/", "x", ".", "-"];
const MOST_LABELS = 16; // numbers along the bottom
const BAR = 0.68; // of the room that a position has

// Round numbers from 0 to at least `most`, about `count` of them.
export function roundTicks(most, count = 5) {
  if (!(most > 0)) {
    return [0, 1];
  }
  const rough = most / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 2.5, 5, 10].find((factor) => factor * power >= rough * 0.999);
  const ticks = [];
  for (let i = 0; ; i++) {
    ticks.push(Number((i * step).toPrecision(12)));
    if (i * step >= most) {
      return ticks;
    }
  }
}

// The same on both sides of 0, from at most `least` to at least `most`.
function ticksBetween(least, most) {
  if (least === 0) {
    return roundTicks(most);
  }
  const step = roundTicks(Math.max(most, -least), 3)[1];
  const [from, to] = [Math.floor(least / step), Math.ceil(most / step)];
  return Array.from({ length: to - from + 1 }, (_, i) => Number(((from + i) * step).toPrecision(12)));
}

// How each series looks: [{key, colour, hatch, dash, mark}]; parts of the pool look as everywhere on the page.
export function looksOf(chart, colours, parts) {
  return chart.series.map(({ key }, i) => {
    const part = key.startsWith("experiment.part.") ? key.slice("experiment.part.".length) : null;
    const role = part ?? ROLES[i % ROLES.length];
    return {
      key,
      role,
      colour: colours[role],
      hatch: part ? parts[part] : chart.kind === "line" ? " " : HATCHES[i % HATCHES.length],
      dash: DASHES[i % DASHES.length],
      mark: MARKS[i % MARKS.length],
    };
  });
}

// What a legend shows, none for a single series whose name is the axis.
export function legendOf(chart, colours, parts) {
  return chart.series.length > 1 ? looksOf(chart, colours, parts) : [];
}

// Which words stand at the axes: {value: [key, unit], position: [key, unit] or null where rows name themselves}.
export function axisOf(chart) {
  return {
    value: [chart.y_label, chart.y_unit],
    position: chart.x_kind === "key" ? null : [chart.x_label, chart.x_unit],
  };
}

const format = new Intl.NumberFormat("en-US", { maximumFractionDigits: 2 });

// Whether what is compared stands along the bottom, as numbers do; names lie in rows, so that they can be read.
export const isUpright = ({ x_kind }) => x_kind !== "key";

export function layOut(chart, name, colours, parts) {
  const looks = looksOf(chart, colours, parts);
  const upright = isUpright(chart);
  const count = chart.x.length;
  const stacked = chart.kind === "stacked_bar";
  const columns = chart.series.map(({ values }) => values);
  const totals = chart.x.map((_, i) => columns.reduce((sum, values) => sum + (values[i] ?? 0), 0));
  const reached = stacked ? totals : columns.flat().filter((value) => value !== null);
  const [least, most] = [Math.min(0, ...reached), Math.max(0, ...reached)];
  // Shares that make a whole end at the whole, not at a round number past it.
  const whole = stacked && chart.y_unit === "experiment.unit.percent" && totals.every((total) => Math.abs(total - 100) < 1);
  const ticks = whole ? [0, 20, 40, 60, 80, 100] : ticksBetween(least, most);
  const single = chart.kind === "bar" && looks.length === 1;
  const valueAxis = {
    start: ticks[0] * 1.02,
    end: whole ? 100 : ticks.at(-1) * (single && !upright ? 1.12 : 1.02),
    ticks,
    labels: ticks.map((tick) => [tick, format.format(tick)]),
    grid: true,
  };
  const at = (i) => (upright ? i : count - 1 - i); // rows are read from the top
  const every = upright ? Math.ceil(count / MOST_LABELS) : 1;
  const named = chart.x.map((_, i) => i).filter((i) => i % every === 0);
  const positionAxis = {
    start: -0.5,
    end: count - 0.5,
    ticks: named.map(at),
    labels: named.map((i) => [at(i), upright ? format.format(chart.x[i]) : name(chart.x[i])]),
    grid: false,
  };
  const bars = { left: [], right: [], bottom: [], top: [], colour: [], solid: [], hatch: [] };
  const lines = { xs: [], ys: [], colour: [], dash: [] };
  const points = { x: [], y: [], colour: [], mark: [] };
  const values = { x: [], y: [], words: [] };
  const addBar = (from, to, low, high, look) => {
    const edges = upright ? [low, high, from, to] : [from, to, low, high];
    ["left", "right", "bottom", "top"].forEach((edge, i) => bars[edge].push(edges[i]));
    bars.colour.push(look.colour);
    bars.solid.push(look.hatch === " " ? 1 : 0.18);
    bars.hatch.push(look.hatch);
  };
  if (chart.kind === "line") {
    looks.forEach((look, s) => {
      const there = chart.x.map((_, i) => i).filter((i) => columns[s][i] !== null);
      lines.xs.push(there.map(at));
      lines.ys.push(there.map((i) => columns[s][i]));
      lines.colour.push(look.colour);
      lines.dash.push(look.dash);
      for (const i of there) {
        points.x.push(at(i));
        points.y.push(columns[s][i]);
        points.colour.push(look.colour);
        points.mark.push(look.mark);
      }
    });
  } else {
    const width = stacked ? BAR : BAR / looks.length;
    chart.x.forEach((_, i) => {
      let below = 0;
      looks.forEach((look, s) => {
        const value = columns[s][i];
        if (value === null) {
          return;
        }
        const low = stacked ? at(i) - BAR / 2 : at(i) - BAR / 2 + s * width;
        addBar(stacked ? below : 0, stacked ? below + value : value, low, low + width, look);
        below += value;
        if (single && !upright) {
          values.x.push(value);
          values.y.push(at(i));
          values.words.push(format.format(value));
        }
      });
    });
  }
  const [x, y] = upright ? [positionAxis, valueAxis] : [valueAxis, positionAxis];
  return { x, y, bars, lines, points, values };
}
