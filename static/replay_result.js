// Results of replays: the main figures of one, and all figures of up to three side by side.

import { SPREAD, TIMES, figureOf, rowsOf, written } from "./replay_figures.js";
import { modeWords } from "./replay_form.js";
import { text } from "./text.js";

const words = (figure) => {
  const [number, unit] = written(figure);
  return unit ? text(unit, { n: number }) : number;
};

// {name: [figure, words]}: what most readers came for.
function mainFigures(result) {
  const idle = (result.mean.reserved + result.mean.internal) / result.capacity;
  return {
    utilisation: words(figureOf("utilisation", result)),
    idle_held: words({ value: idle, kind: "share" }),
    residents: words(figureOf("mean_running", result)),
    finished: words(figureOf("num_finished", result)),
    rejected: words(figureOf("num_rejected", result)),
    preemptions: words(figureOf("num_preemptions", result)),
    fragmented: words(figureOf("fragmented_steps", result)),
  };
}

export function drawCounters(list, result) {
  list.replaceChildren(
    ...Object.entries(mainFigures(result)).map(([name, shown]) => {
      const box = document.createElement("div");
      box.className = "counter";
      const value = document.createElement("dd");
      value.textContent = shown;
      value.dataset.counter = name;
      const label = document.createElement("dt");
      label.textContent = text(`tab.replay.kpi.${name}`, { total: result.num_requests });
      box.append(label, value);
      return box;
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

// kept: [{settings, result}, …], one column each.
export function drawTable(table, kept) {
  const results = kept.map(({ result }) => result);
  const head = document.createElement("tr");
  const names = [text("tab.replay.table.figure"), ...kept.map(({ settings }) => modeWords(settings))];
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
