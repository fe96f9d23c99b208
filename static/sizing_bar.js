// Fills the figure "sizing" (app/frontend/sizing_bar.py).

import { scheme } from "./colours.js";
import { openFigure } from "./figure.js";
import { tabData } from "./tab_data.js";

const { terms: TERMS, figure: FIGURE } = tabData.sizing;

export class SizingBar {
  // place: an empty element for the figure.
  static async open(place) {
    return new SizingBar(await openFigure(FIGURE, place));
  }

  constructor(figure) {
    this._figure = figure;
    this._drawn = "";
  }

  // What is shown, as a canvas; `ground` is the colour behind it.
  picture(ground) {
    return this._figure.picture("sizing", ground);
  }

  // terms: bytes by name; memory: their sum.
  draw(terms, memory, theme) {
    const colours = scheme(theme);
    const left = [];
    const right = [];
    let at = 0;
    for (const name of Object.keys(TERMS)) {
      left.push(at / memory);
      at += terms[name];
      right.push(at / memory);
    }
    const colour = Object.values(TERMS).map(([role]) => colours[role]);
    const drawn = JSON.stringify([right, colour]);
    if (drawn === this._drawn) {
      return; // most settings leave the memory as it is
    }
    this._drawn = drawn;
    this._figure.setData("sizing.parts", { ...this._figure.model("sizing.parts").data, left, right, colour });
    this._figure.model("sizing.parts.glyph").glyph.setv({ line_color: colours.panel });
  }
}
