// Fills the figure "waste" (app/frontend/waste_bar.py) and the figures below it.

import { scheme } from "./colours.js";
import { model, setData, setGlyph } from "./figure.js";
import { percent, text } from "./text.js";

const PARTS = ["real", "reserved", "internal", "external", "usable"];

export class WasteBar {
  constructor(list, sum) {
    this._figures = PARTS.map((part) => list.querySelector(`[data-waste="${part}"]`));
    this._sum = sum;
    this._colours = null;
  }

  draw(recording, t) {
    const frame = recording.frame(t);
    const left = [];
    const right = [];
    let at = 0;
    PARTS.forEach((part, i) => {
      left.push(at);
      at += frame[part] / recording.capacity;
      right.push(at);
      this._figures[i].textContent = text("page.part.value", {
        n: frame[part],
        share: percent(frame[part] / recording.capacity),
      });
    });
    const { data } = model("waste.parts");
    setData("waste.parts", { ...data, left, right, colour: this._colours ?? data.colour });
    this._sum.textContent = text("page.waste.sum", { capacity: recording.capacity });
  }

  recolour(theme) {
    const colours = scheme(theme);
    this._colours = PARTS.map((part) => colours[part]);
    setGlyph("waste.parts.glyph", { line_color: colours.panel });
  }
}
