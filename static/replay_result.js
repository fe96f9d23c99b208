// Results of replays: the main figures of one, and all figures of up to three side by side.

import { make } from "./make.js";
import { SPREAD, TIMES, figureOf, rowsOf, written } from "./replay_figures.js";
import { text } from "./text.js";

const words = (figure) => {
  const [number, unit] = written(figure);
  return unit ? text(unit, { n: number }) : number;
};

const times = new Intl.NumberFormat("en-US", { maximumFractionDigits: 2 });

// A time in ns in the unit that suits it.
export function timeWords(ns) {
  return ns >= 1e9 ? text("tab.replay.seconds", { n: times.format(ns / 1e9) }) : text("tab.replay.milliseconds", { n: times.format(ns / 1e6) });
}

// {name: words}: what most readers came for.
function mainFigures(result) {
  const shown = (name) => words(figureOf(name, result));
  return {
    requests_per_second: shown("requests_per_second"),
    tokens_per_second: shown("tokens_per_second"),
    ttft: words({ value: result.ttft.p50, kind: "time" }),
    tpot: words({ value: result.tpot.p50, kind: "time" }),
    attainment: shown("attainment"),
    utilisation: shown("utilisation"),
    preemptions: shown("num_preemptions"),
    rejected: shown("num_rejected"),
  };
}

// The main figures of one replay, each with plain words.
export function drawCounters(list, { result, settings }) {
  const fields = {
    total: result.num_requests,
    finished: result.num_finished,
    late_ttft: timeWords(result.ttft.p99),
    late_tpot: timeWords(result.tpot.p99),
    slottft: timeWords(settings.slottft * 1e6),
    slotpot: timeWords(settings.slotpot * 1e6),
    residents: words(figureOf("mean_running", result)),
    recomputed: words(figureOf("num_recomputed", result)),
  };
  list.replaceChildren(
    ...Object.entries(mainFigures(result)).map(([name, shown]) => {
      const value = make("dd", "", shown);
      value.dataset.counter = name;
      return make("div", "counter", make("dt", "", text(`tab.replay.kpi.${name}`, fields)), value);
    }),
  );
}

function row(name, explanation, field, cells) {
  const line = document.createElement("tr");
  line.dataset.field = field;
  const head = document.createElement("th");
  head.scope = "row";
  const label = document.createElement("span");
  label.textContent = name;
  head.append(label);
  if (explanation) {
    const small = document.createElement("small");
    small.textContent = explanation;
    head.append(small);
  }
  line.append(
    head,
    ...cells.map((figure) => {
      const cell = document.createElement("td");
      cell.className = "num";
      cell.textContent = words(figure);
      cell.dataset.value = figure.value;
      return cell;
    }),
  );
  return line;
}

// kept: [{result, name}, …], one column each.
export function drawTable(table, kept) {
  const results = kept.map(({ result }) => result);
  const head = document.createElement("tr");
  const names = [text("tab.replay.table.figure"), ...kept.map(({ name }) => name)];
  names.forEach((name, i) => {
    const cell = document.createElement("th");
    cell.scope = "col";
    cell.className = i ? "num" : "";
    cell.textContent = name;
    head.append(cell);
  });
  const rows = rowsOf(results).map((name) =>
    row(text(`replay.field.${name}`), text(`replay.explain.${name}`), name, results.map((each) => figureOf(name, each))),
  );
  for (const time of TIMES) {
    SPREAD.forEach((part, i) => {
      const name = `${text(`replay.field.${time}`)} · ${text(`replay.spread.${part}`)}`;
      const cells = results.map((each) => ({ value: each[time][part], kind: "time" }));
      rows.push(row(name, i ? "" : text(`replay.explain.${time}`), `${time}.${part}`, cells));
    });
  }
  const thead = document.createElement("thead");
  thead.append(head);
  const tbody = document.createElement("tbody");
  tbody.append(...rows);
  table.replaceChildren(thead, tbody);
}
