// Fills the figures "replay.pool" and "replay.counts" (app/frontend/replay_timeline.py).

import { legendItem } from "./chart_cards.js";
import { roundTicks } from "./chart_layout.js";
import { scheme } from "./colours.js";
import { openFigure } from "./figure.js";
import { PARTS, timeLine } from "./replay_figures.js";
import { tabData } from "./tab_data.js";
import { text } from "./text.js";

const COUNT_ROLES = { running: ["real", "solid"], waiting: ["reserved", "dashed"] };

export class ReplayTimeline {
  static async open() {
    const find = (id) => document.getElementById(id);
    return new ReplayTimeline(
      await openFigure(tabData.figures.pool, find("replay-pool-figure")),
      await openFigure(tabData.figures.counts, find("replay-counts-figure")),
    );
  }

  constructor(pool, counts) {
    this._pool = pool;
    this._counts = counts;
  }

  draw(result, theme) {
    const { unit, end, parts, counts, most } = timeLine(result);
    const colours = scheme(theme);
    this._pool.setData("replay.parts", parts);
    this._counts.setData("replay.counts.lines", counts);
    this._pool.model("replay.pool").x_range.setv({ start: 0, end });
    this._counts.model("replay.counts").x_range.setv({ start: 0, end });
    this._counts.model("replay.counts").y_range.setv({ start: 0, end: roundTicks(most, 3).at(-1) });
    for (const part of PARTS) {
      const look = { fill_color: colours[part], hatch_color: colours[part] };
      this._pool.model(`replay.${part}.glyph`).glyph.setv(look);
    }
    for (const [name, [role]] of Object.entries(COUNT_ROLES)) {
      this._counts.model(`replay.${name}.glyph`).glyph.setv({ line_color: colours[role] });
    }
    for (const [figure, name] of [[this._pool, "replay.pool"], [this._counts, "replay.counts"]]) {
      for (const side of ["x", "y"]) {
        figure.model(`${name}.${side}`).setv({ major_label_text_color: colours.ink });
        figure.model(`${name}.${side}.grid`).setv({ grid_line_color: colours.line });
      }
    }
    document.getElementById("replay-time-unit").textContent = text(`tab.replay.axis.time.${unit}`);
    document.getElementById("replay-parts-legend").replaceChildren(
      ...PARTS.map((part) =>
        legendItem({ key: `replay.field.${part}`, colour: colours[part], hatch: tabData.parts[part] }, "bar"),
      ),
    );
    document.getElementById("replay-counts-legend").replaceChildren(
      ...Object.entries(COUNT_ROLES).map(([name, [role, dash]]) =>
        legendItem({ key: `replay.field.${name}`, colour: colours[role], dash }, "line"),
      ),
    );
  }
}
