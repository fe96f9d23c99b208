// An experiment's report: claims with verdicts, charts, tables. All words go in as text.

import { AttentionLab } from "./attention_lab.js";
import { BeamPicture } from "./beam_picture.js";
import { ChartCards } from "./chart_cards.js";
import { make } from "./make.js";
import { tableCard } from "./table_card.js";
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

// Pictures that only one experiment has, by their name in a report.
const PICTURES = { trace: AttentionLab, tree: BeamPicture };

export class Report {
  constructor(place) {
    this._claims = make("section", "card claims");
    this._charts = new ChartCards("report-chart");
    this._tables = make("div", "tables-of-report");
    this._pictures = make("div", "pictures");
    this._drawers = new Map(); // name of a picture → what draws it, once it has been needed
    place.replaceChildren(this._claims, this._pictures, this._charts.element, this._tables);
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
    this._tables.replaceChildren(...report.tables.map((each, i) => tableCard(each, `report-table-${i}`)));
    // One after the other: a figure that is being opened is not opened twice.
    this._drawn = this._drawn
      .then(() => this._drawPictures(report.pictures ?? {}, theme))
      .then(() => this._charts.draw(report.charts, theme));
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
}
