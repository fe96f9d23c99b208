// An experiment's report: claims with verdicts, charts, tables. All words go in as text.

import { AttentionLab } from "./attention_lab.js";
import { BeamPicture } from "./beam_picture.js";
import { Chart } from "./chart.js";
import { axisOf, legendOf } from "./chart_layout.js";
import { scheme } from "./colours.js";
import { make } from "./make.js";
import { tabData } from "./tab_data.js";
import { currentLanguage, text } from "./text.js";

// Numbers of one column with as many digits after the point as the one that has most.
function numberFormat(values) {
  const digits = Math.max(0, ...values.map((value) => String(value ?? "").split(".")[1]?.length ?? 0));
  return new Intl.NumberFormat("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

function withUnit([key, unit]) {
  return unit ? text("tab.experiments.with_unit", { name: text(key), unit: text(unit) }) : text(key);
}

function cellWords(value, kind, format) {
  if (value === null) {
    return text("tab.experiments.none");
  }
  return kind === "key" ? text(value) : format.format(value);
}

function table({ key, columns, rows }, id) {
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

function verdict({ holds, ...claim }) {
  const icon = make("span", "verdict-icon", holds ? "✓" : "✗");
  icon.ariaHidden = "true";
  const mark = make("strong", `verdict ${holds ? "verdict-holds" : "verdict-fails"}`, icon, text(`tab.experiments.${holds ? "holds" : "fails"}`));
  const source = make("small", "", text("tab.experiments.source", { source: text(claim.source) }));
  const item = make("li", "", mark, make("p", "", claim[currentLanguage()], source));
  item.dataset.claim = claim.id;
  item.dataset.holds = String(holds);
  return item;
}

// Pictures that only one experiment has, by their name in a report.
const PICTURES = { trace: AttentionLab, tree: BeamPicture };

export class Report {
  constructor(place) {
    this._claims = make("section", "card claims");
    this._charts = make("div", "charts");
    this._tables = make("div", "tables-of-report");
    this._pictures = make("div", "pictures");
    this._drawers = new Map(); // name of a picture → what draws it, once it has been needed
    this._figures = []; // {card, title, value, legend, position, chart}, reused from report to report
    place.replaceChildren(this._claims, this._pictures, this._charts, this._tables);
    this._place = place;
    this._drawn = Promise.resolve();
  }

  show(visible) {
    this._place.hidden = !visible;
  }

  // stale: the settings have changed since; the figures are shown paler.
  draw(report, theme, stale) {
    this._place.classList.toggle("stale", stale);
    const held = report.claims.filter(({ holds }) => holds).length;
    this._claims.replaceChildren(
      make("h3", "", text("tab.experiments.claims", { held, total: report.claims.length })),
      make("ul", "", ...report.claims.map(verdict)),
    );
    this._tables.replaceChildren(...report.tables.map((each, i) => table(each, `report-table-${i}`)));
    // One after the other: a figure that is being opened is not opened twice.
    this._drawn = this._drawn
      .then(() => this._drawPictures(report.pictures ?? {}, theme))
      .then(() => this._drawCharts(report.charts, theme));
    return this._drawn;
  }

  async _drawPictures(pictures, theme) {
    for (const [name, { element }] of this._drawers) {
      element.hidden = !pictures[name];
    }
    for (const [name, Drawer] of Object.entries(PICTURES)) {
      if (pictures[name]) {
        if (!this._drawers.has(name)) {
          this._drawers.set(name, new Drawer(this._pictures));
        }
        await this._drawers.get(name).draw(pictures[name], theme);
      }
    }
  }

  async _drawCharts(charts, theme) {
    this._charts.classList.toggle("odd", charts.length % 2 === 1); // the first then takes a row of its own
    for (const [i, chart] of charts.entries()) {
      this._figures[i] ??= await this._openFigure(i, chart.key);
      const { card, title, value, legend, position, figure } = this._figures[i];
      const axis = axisOf(chart);
      card.hidden = false;
      card.dataset.chart = chart.key;
      title.textContent = text(chart.key);
      value.textContent = withUnit(axis.value);
      position.textContent = axis.position ? withUnit(axis.position) : "";
      position.hidden = !axis.position;
      legend.replaceChildren(...legendOf(chart, scheme(theme), tabData.parts).map((look) => legendItem(look, chart.kind)));
      figure.draw(chart, text, theme);
    }
    this._figures.slice(charts.length).forEach(({ card }) => (card.hidden = true));
  }

  async _openFigure(i, key) {
    const title = make("h3", "", text(key)); // the figure's name, from the moment it is there
    title.id = `report-chart-${i}`;
    const value = make("p", "axis-words");
    const legend = make("ul", "legend");
    const place = make("div", "figure chart-figure");
    place.setAttribute("role", "img");
    place.setAttribute("aria-labelledby", title.id);
    const position = make("p", "axis-words axis-x");
    const card = make("section", "card", title, legend, value, place, position);
    this._charts.append(card);
    return { card, title, value, legend, position, figure: await Chart.open(place) };
  }
}

export function legendItem({ key, colour, hatch, dash }, kind) {
  const swatch = make("i", `key ${kind === "line" ? `key-line key-line-${dash}` : hatchClass(hatch)}`);
  swatch.style.setProperty("--key", colour);
  swatch.ariaHidden = "true";
  return make("li", "", swatch, make("span", "", text(key)));
}

const hatchClass = (hatch) => ({ " ": "key-real", "/": "key-reserved", x: "key-internal", ".": "key-external" })[hatch] ?? "key-real";
