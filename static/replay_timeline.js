// Fills the figure "replay.pool" (app/frontend/replay_timeline.py): where the slots go in one replay.

import { legendItem } from "./chart_cards.js";
import { scheme } from "./colours.js";
import { openFigure } from "./figure.js";
import { PARTS, timeLine } from "./replay_figures.js";
import { tabData } from "./tab_data.js";
import { text } from "./text.js";

export class ReplayTimeline {
  static async open(place) {
    return new ReplayTimeline(await openFigure(tabData.figures.pool, place));
  }

  constructor(pool) {
    this._pool = pool;
  }

  draw(result, theme) {
    const { unit, end, parts } = timeLine(result);
    const colours = scheme(theme);
    this._pool.setData("replay.parts", parts);
    this._pool.model("replay.pool").x_range.setv({ start: 0, end });
    for (const part of PARTS) {
      const look = { fill_color: colours[part], hatch_color: colours[part] };
      this._pool.model(`replay.${part}.glyph`).glyph.setv(look);
    }
    for (const side of ["x", "y"]) {
      this._pool.model(`replay.pool.${side}`).setv({ major_label_text_color: colours.ink });
      this._pool.model(`replay.pool.${side}.grid`).setv({ grid_line_color: colours.line });
    }
    document.getElementById("replay-time-unit").textContent = text(`tab.replay.axis.time.${unit}`);
    document.getElementById("replay-parts-legend").replaceChildren(
      ...PARTS.filter((part) => part !== "cached" || result.mean.cached).map((part) =>
        legendItem({ key: `replay.field.${part}`, colour: colours[part], hatch: tabData.parts[part] }, "bar"),
      ),
    );
  }

  picture(ground) {
    return this._pool.picture("replay.pool", ground);
  }
}
