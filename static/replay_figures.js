// The figures of a replay's result: which there are, in which order, and how each is written. Knows no page.

export const PARTS = ["real", "reserved", "internal", "external", "cached", "usable"];
export const REASONS = ["context", "pool"];
export const TIMES = ["queueing", "ttft", "tpot", "end_to_end", "normalized"];
export const SPREAD = ["mean", "p50", "p90", "p99", "max"];

// By the last part of their text keys, replay.field.<name> and replay.explain.<name>; as `kvscope replay` has them.
const ROWS = [
  "requests_per_second",
  "tokens_per_second",
  "attainment",
  "goodput",
  "num_requests",
  "num_finished",
  "num_rejected",
  ...REASONS.map((reason) => `rejected.${reason}`),
  "num_hung",
  "utilisation",
  "reserved",
  "internal",
  "external",
  "usable",
  "cached",
  "capacity",
  "max_real",
  "mean_running",
  "max_running",
  "mean_waiting",
  "max_waiting",
  "num_preemptions",
  "num_recomputed",
  "fragmented_steps",
  "hit_rate",
  "tokens_in",
  "tokens_out",
  "num_steps",
  "end_ns",
];

// The rows to show for these results: reasons of rejection, and those that hang, only where there were any.
export function rowsOf(results) {
  return ROWS.filter((name) => {
    if (name === "cached") {
      return results.some(({ mean }) => mean.cached);
    }
    if (name === "hit_rate") {
      return results.some(({ prefix }) => prefix);
    }
    if (name === "num_hung") {
      return results.some(({ num_hung }) => num_hung);
    }
    const reason = name.startsWith("rejected.") ? name.slice("rejected.".length) : null;
    return !reason || results.some(({ rejected }) => rejected[reason]);
  });
}

// {value, kind}: kind is "share" (0 to 1), "time" (ns), "mean" or "count".
export function figureOf(name, result) {
  if (name.startsWith("rejected.")) {
    return { value: result.rejected[name.slice("rejected.".length)] ?? 0, kind: "count" };
  }
  if (name === "hit_rate") {
    return { value: result.prefix?.hit_rate ?? 0, kind: "share" };
  }
  if (PARTS.includes(name)) {
    return { value: result.mean[name] / result.capacity, kind: "share" };
  }
  if (name === "max_real") {
    return { value: result.max_real / result.capacity, kind: "share" };
  }
  return { value: result[name], kind: KINDS[name] ?? "count" };
}

const KINDS = {
  utilisation: "share",
  attainment: "share",
  end_ns: "time",
  mean_running: "mean",
  mean_waiting: "mean",
  requests_per_second: "mean",
  tokens_per_second: "mean",
  goodput: "mean",
};

const counts = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
const tenths = new Intl.NumberFormat("en-US", { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const hundredths = new Intl.NumberFormat("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 });

// The number without its unit, and the text key of the unit ("" for none).
export function written({ value, kind }) {
  switch (kind) {
    case "share":
      return [tenths.format(100 * value), "tab.replay.percent"];
    case "time":
      return value >= 1e9
        ? [hundredths.format(value / 1e9), "tab.replay.seconds"]
        : [tenths.format(value / 1e6), "tab.replay.milliseconds"];
    case "mean":
      return [tenths.format(value), ""];
    default:
      return [counts.format(value), ""];
  }
}

// One row a result, a column for each setting and figure; nested names are joined by dots. The columns are those
// of `kvscope replay --csv`.
export function csvOf(kept) {
  const rows = kept.map(({ settings, result }) => ({ ...settings, partial: Number(result.partial), ...flat(result) }));
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return [columns, ...rows.map((row) => columns.map((column) => row[column] ?? ""))].map((row) => `${row.join(",")}\n`).join("");
}

function flat(result) {
  const { time_line: _, name: __, format: ___, partial: ____, percentiles: _____, ...figures } = result;
  const out = {};
  for (const [name, value] of Object.entries(figures)) {
    if (name === "rejected") {
      REASONS.forEach((reason) => (out[`rejected.${reason}`] = value[reason] ?? 0));
    } else if (value !== null && typeof value === "object") {
      Object.entries(value).forEach(([part, figure]) => (out[`${name}.${part}`] = figure));
    } else {
      out[name] = value;
    }
  }
  return out;
}

// Unit of a time axis that ends at `ns`: its name, and ns in it.
export function timeUnit(ns) {
  return ns < 300e9 ? ["s", 1e9] : ns < 18_000e9 ? ["min", 60e9] : ["h", 3600e9];
}

// Where the slots go over time, in the axis' unit: parts of the pool as upper edges in percent of it.
export function timeLine(result) {
  const { now_ns: starts, ...slots } = result.time_line;
  const end = Math.max(result.end_ns, starts.at(-1) ?? 0, 1);
  const [unit, ns] = timeUnit(end);
  const x = starts.map((start) => start / ns);
  const parts = { x, zero: x.map(() => 0) };
  let below = parts.zero;
  for (const part of PARTS) {
    below = slots[part].map((value, i) => below[i] + (100 * value) / result.capacity);
    parts[part] = below;
  }
  return { unit, end: end / ns, parts };
}
