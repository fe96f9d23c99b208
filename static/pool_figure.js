// The figure "pool" (app/frontend/pool_grid.py) as the picture that PoolGrid fills.

import { model, setGlyph } from "./figure.js";

export class PoolFigure {
  constructor() {
    this._plot = model("pool");
    this._sources = new Map();
  }

  // Gives the figure so many cells in each direction, and its height in px.
  resize({ columns, rows }, height) {
    this._plot.x_range.setv({ start: 0, end: columns });
    this._plot.y_range.setv({ start: rows, end: 0 });
    this._plot.height = height;
  }

  // Replaces a source's columns, if anything is drawn from them before or after.
  set(name, columns) {
    if (!this._sources.has(name)) {
      this._sources.set(name, model(name));
    }
    const source = this._sources.get(name);
    const count = (data) => Object.values(data)[0].length;
    if (count(columns) || count(source.data)) {
      source.data = columns;
    }
  }

  recolour(colours) {
    setGlyph("pool.cells.glyph", { fill_color: colours.free, line_color: colours.cell_line });
    setGlyph("pool.external.glyph", { hatch_color: colours.external });
    setGlyph("pool.numbers.glyph", { text_color: colours.muted });
  }
}
