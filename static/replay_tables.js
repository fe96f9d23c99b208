// The tables that say what the charts show: one replay over time, and the latencies of all of them.

import { make } from "./make.js";
import { LATENCIES, SHOWN_PERCENTILES, timeRows } from "./replay_lines.js";
import { timeWords } from "./replay_result.js";
import { text } from "./text.js";

const COUNTS = ["running", "waiting", "preemptions"];
const SLOTS = ["real", "reserved", "internal", "external", "cached", "usable"];
const format = new Intl.NumberFormat("en-US", { minimumFractionDigits: 1, maximumFractionDigits: 1 });

function fillTable(table, head, rows) {
  const line = (cells, tag) => {
    const row = make("tr");
    cells.forEach((words, i) => {
      const cell = make(i && tag === "td" ? "td" : "th", i ? "num" : "", words);
      if (cell.tagName === "TH") {
        cell.scope = tag === "th" ? "col" : "row";
      }
      row.append(cell);
    });
    return row;
  };
  table.replaceChildren(
    make("thead", "", line(head, "th")),
    make("tbody", "", ...rows.map((cells) => line(cells, "td"))),
  );
}

export function drawTimeTable(table, result) {
  const slots = SLOTS.filter((name) => name !== "cached" || result.mean.cached);
  const head = [
    text("tab.replay.table.time"),
    ...COUNTS.map((name) => text(`replay.field.${name}`)),
    ...slots.map((name) => text("tab.replay.table.share", { name: text(`replay.field.${name}`) })),
  ];
  const rows = timeRows(result).map(([start, at]) => [
    timeWords(start),
    ...COUNTS.map((name) => format.format(at[name])),
    ...slots.map((name) => format.format((100 * at[name]) / result.capacity)),
  ]);
  fillTable(table, head, rows);
}

// kept: [{result, name}, …].
export function drawLatencyTable(table, kept) {
  const columns = LATENCIES.flatMap((latency) => kept.map(({ result, name }) => ({ latency, result, name })));
  const head = [
    text("tab.replay.table.within"),
    ...columns.map(({ latency, name }) => {
      const field = text(`replay.field.${latency}`);
      return kept.length > 1 ? text("tab.replay.table.of", { field, name }) : field;
    }),
  ];
  const rows = SHOWN_PERCENTILES.map((percent) => [
    text("tab.replay.percent", { n: percent }),
    ...columns.map(({ latency, result }) => {
      const ns = result.percentiles[latency][percent];
      return ns === undefined ? text("tab.experiments.none") : timeWords(ns);
    }),
  ]);
  fillTable(table, head, rows);
}
