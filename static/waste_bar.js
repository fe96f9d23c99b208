// The slots of each part of the pool in numbers, and the figure "waste" (app/frontend/waste_bar.py) above them.

import { scheme } from "./colours.js";
import { model, setGlyph } from "./figure.js";
import { emptyHatch, HATCHES, pushHatch } from "./hatch.js";
import { percent, say, text } from "./text.js";

const HEIGHT = 28; // px, as app/frontend/waste_bar.py has it
const LINES = { ...HATCHES, external: { spacing: 3, width: 1, crossed: false } };
const PARTS = ["real", "reserved", "internal", "external", "cached", "usable"];

export class WasteFigures {
  constructor(list, sum) {
    this._figures = PARTS.map((part) => list.querySelector(`[data-waste="${part}"]`));
    this._sum = sum;
  }

  draw(recording, t) {
    const frame = recording.frame(t);
    PARTS.forEach((part, i) => {
      const share = percent(frame[part] / recording.capacity);
      say(this._figures[i], text("page.part.value", { n: frame[part], share }));
    });
    say(this._sum, text("page.waste.sum", { capacity: recording.capacity }));
  }
}

export class WasteBar {
  constructor(place) {
    this._place = place;
    this._parts = model("waste.parts");
    this._hatch = model("waste.hatch");
    this._colours = null;
    this._width = 0;
    new ResizeObserver(([{ contentRect }]) => {
      this._width = contentRect.width;
    }).observe(place);
  }

  draw(recording, t) {
    const frame = recording.frame(t);
    const left = [];
    const right = [];
    let at = 0;
    for (const part of PARTS) {
      left.push(at);
      at += frame[part] / recording.capacity;
      right.push(at);
    }
    const colours = this._colours ?? this._parts.data.colour;
    this._parts.data = { ...this._parts.data, left, right, colour: colours };
    const hatch = emptyHatch();
    const width = this._width || this._place.clientWidth;
    PARTS.forEach((part, i) => {
      if (LINES[part] && right[i] > left[i]) {
        const rectangle = { left: left[i] * width, right: right[i] * width, top: 0, bottom: HEIGHT };
        pushHatch(hatch, rectangle, LINES[part], colours[i], 1, width, HEIGHT);
      }
    });
    this._hatch.data = hatch;
  }

  recolour(theme) {
    const colours = scheme(theme);
    this._colours = PARTS.map((part) => colours[part]);
    setGlyph("waste.parts.glyph", { line_color: colours.panel });
  }
}
