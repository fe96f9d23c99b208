// The picture that PoolGrid fills while BokehJS is on its way: the same columns, looks and order as in the figure
// "pool" (app/frontend/pool_grid.py), drawn on a canvas, so that the page plays before a library has been read.

const DOTS = { apart: 7, radius: 1.75 }; // px, as Bokeh draws them at the figure's hatch_scale

export class PoolSketch {
  constructor(place) {
    this._canvas = document.createElement("canvas");
    this._canvas.className = "pool-sketch";
    place.prepend(this._canvas);
    this._columns = new Map();
    this._size = null;
    this._colours = null;
    this._due = false;
  }

  resize({ columns, rows, cell }, height) {
    this._size = { cell, row: height / rows, width: columns * cell, height };
    this._paintSoon();
  }

  set(name, columns) {
    this._columns.set(name, columns);
    this._paintSoon();
  }

  recolour(colours) {
    this._colours = colours;
    this._paintSoon();
  }

  // Once what takes its place has been drawn.
  remove() {
    requestAnimationFrame(() => requestAnimationFrame(() => this._canvas.remove()));
  }

  // One painting for all that is set in a row.
  _paintSoon() {
    if (!this._due) {
      this._due = true;
      queueMicrotask(() => {
        this._due = false;
        if (this._size && this._colours) {
          this._paint();
        }
      });
    }
  }

  _paint() {
    const { width, height } = this._size;
    const ratio = window.devicePixelRatio;
    this._canvas.width = Math.round(width * ratio);
    this._canvas.height = Math.round(height * ratio);
    const ctx = this._canvas.getContext("2d");
    ctx.setTransform(ratio, 0, 0, ratio, ratio / 2, ratio / 2); // half a pixel in, as Bokeh draws
    const colours = this._colours;
    this._quads(ctx, "pool.cells", () => {
      ctx.fillStyle = colours.free;
      ctx.fill();
      ctx.strokeStyle = colours.cell_line;
      ctx.stroke();
    });
    const dots = this._columns.get("pool.external")?.left.length ? dotted(ctx, colours.external) : null;
    this._quads(ctx, "pool.external", () => {
      ctx.fillStyle = dots;
      ctx.fill();
    });
    this._quads(ctx, "pool.spans", ({ colour, fill, alpha, line }, i) => {
      ctx.globalAlpha = fill[i];
      ctx.fillStyle = colour[i];
      ctx.fill();
      ctx.globalAlpha = alpha[i];
      ctx.strokeStyle = line[i];
      ctx.stroke();
    });
    this._hatch(ctx);
    this._quads(ctx, "pool.outlines", ({ colour, alpha, dash, width: thick }, i) => {
      ctx.globalAlpha = alpha[i];
      ctx.strokeStyle = colour[i];
      ctx.lineWidth = thick[i];
      ctx.setLineDash(dash[i]);
      ctx.stroke();
    });
  }

  // Calls dress(columns, i) with the path of each rectangle of a source begun.
  _quads(ctx, name, dress) {
    const columns = this._columns.get(name);
    const { cell, row } = this._size;
    ctx.save();
    for (let i = 0; i < (columns?.left.length ?? 0); i++) {
      const { left, right, top, bottom } = columns;
      ctx.beginPath();
      ctx.rect(left[i] * cell, top[i] * row, (right[i] - left[i]) * cell, (bottom[i] - top[i]) * row);
      dress(columns, i);
    }
    ctx.restore();
  }

  _hatch(ctx) {
    const { x0, y0, x1, y1, colour, alpha, width } = this._columns.get("pool.hatch") ?? { x0: [] };
    const { cell, row } = this._size;
    ctx.save();
    for (let i = 0; i < x0.length; i++) {
      ctx.globalAlpha = alpha[i];
      ctx.strokeStyle = colour[i];
      ctx.lineWidth = width[i];
      ctx.beginPath();
      ctx.moveTo(x0[i] * cell, y0[i] * row);
      ctx.lineTo(x1[i] * cell, y1[i] * row);
      ctx.stroke();
    }
    ctx.restore();
  }
}

function dotted(ctx, colour) {
  const tile = new OffscreenCanvas(DOTS.apart, DOTS.apart);
  const dot = tile.getContext("2d");
  dot.fillStyle = colour;
  dot.arc(DOTS.apart / 2, DOTS.apart / 2, DOTS.radius, 0, 2 * Math.PI);
  dot.fill();
  return ctx.createPattern(tile, "repeat");
}
