// A table of a report as a card. All words go in as text.

import { make } from "./make.js";
import { text } from "./text.js";

// Numbers of one column with as many digits after the point as the one that has most.
function numberFormat(values) {
  const digits = Math.max(0, ...values.map((value) => String(value ?? "").split(".")[1]?.length ?? 0));
  return new Intl.NumberFormat("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

export function withUnit([key, unit]) {
  return unit ? text("tab.experiments.with_unit", { name: text(key), unit: text(unit) }) : text(key);
}

function cellWords(value, kind, format) {
  if (value === null) {
    return text("tab.experiments.none");
  }
  return kind === "key" ? text(value) : format.format(value);
}

// table: as in a report; id: of its caption, unique on the page.
export function tableCard({ key, columns, rows }, id) {
  const caption = make("h3", "", text(key));
  caption.id = id;
  const head = make("tr", "", ...columns.map(({ key: name, unit, kind }) => {
    const cell = make("th", kind === "key" ? "" : "num", withUnit([name, unit]));
    cell.scope = "col";
    return cell;
  }));
  const formats = columns.map((_, i) => numberFormat(rows.map((row) => row[i])));
  const body = rows.map((row) => make("tr", "", ...row.map((value, i) => {
    const { kind } = columns[i];
    const cell = make(i ? "td" : "th", kind === "key" ? "" : "num", cellWords(value, kind, formats[i]));
    if (!i) {
      cell.scope = "row";
    }
    return cell;
  })));
  const grid = make("table", "report-table", make("thead", "", head), make("tbody", "", ...body));
  const scroll = make("div", "scroll tall", grid);
  scroll.tabIndex = 0;
  scroll.setAttribute("role", "region");
  scroll.setAttribute("aria-labelledby", id);
  return make("section", "card", caption, scroll);
}
