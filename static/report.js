// An experiment's report: charts, claims with verdicts, tables. All words go in as text.

import { AttentionLab } from "./attention_lab.js";
import { BeamPicture } from "./beam_picture.js";
import { ChartCards } from "./chart_cards.js";
import { pictureOf } from "./chart_picture.js";
import { scheme } from "./colours.js";
import { save } from "./export.js";
import { make } from "./make.js";
import { csvOf, jsonOf } from "./report_export.js";
import { tableCard, withUnit } from "./table_card.js";
import { currentLanguage, text } from "./text.js";

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

function exportButton(kind) {
  const button = make("button", "plain small");
  button.type = "button";
  button.dataset.reportExport = kind;
  return button;
}

// Pictures that only one experiment has, by their name in a report.
const PICTURES = { trace: AttentionLab, tree: BeamPicture };

export class Report {
  constructor(place) {
    this._claims = make("section", "card claims");
    this._charts = new ChartCards("report-chart");
    this._tables = make("div", "tables-of-report");
    this._pictures = make("div", "pictures");
    this._drawers = new Map(); // name of a picture → what draws it, once it has been needed
    this._exports = make("p", "button-row", ...["csv", "json", "png"].map(exportButton));
    this._exports.addEventListener("click", ({ target }) => this._export(target.closest("button")?.dataset.reportExport));
    place.replaceChildren(this._pictures, this._charts.element, this._claims, this._tables, this._exports);
    this._place = place;
    this._drawn = Promise.resolve();
  }

  show(visible) {
    this._place.hidden = !visible;
  }

  // stale: the settings have changed since; the figures are shown paler.
  draw(report, theme, stale) {
    this._shown = { report, theme };
    for (const button of this._exports.children) {
      button.textContent = text(`tab.export.${button.dataset.reportExport}`);
    }
    this._place.classList.toggle("stale", stale);
    const held = report.claims.filter(({ holds }) => holds).length;
    this._claims.replaceChildren(
      make("h3", "", text("tab.experiments.claims", { held, total: report.claims.length })),
      make("ul", "", ...report.claims.map(verdict)),
    );
    this._tables.replaceChildren(...report.tables.map((each, i) => tableCard(each, `report-table-${i}`)));
    // One after the other: a figure that is being opened is not opened twice.
    this._drawn = this._drawn
      .then(() => this._drawPictures(report.pictures ?? {}, theme))
      .then(() => this._charts.draw(report.charts, theme));
    return this._drawn;
  }

  async _export(kind) {
    if (!kind) {
      return;
    }
    const { report, theme } = this._shown;
    await this._drawn;
    save(await this._exported(kind, report, theme), `kvscope-${report.experiment}.${kind}`);
  }

  _exported(kind, report, theme) {
    if (kind === "csv") {
      return new Blob([csvOf(report.tables, text, withUnit)], { type: "text/csv" });
    }
    if (kind === "json") {
      return new Blob([jsonOf(report)], { type: "application/json" });
    }
    const title = text(`experiment.${report.experiment}.title`);
    const scale = Math.max(2, devicePixelRatio);
    return pictureOf({ title, legend: [], charts: this._charts.pictures(theme), colours: scheme(theme), scale });
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
}
