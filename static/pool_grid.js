// Fills the figure "pool" (app/frontend/pool_grid.py) from a frame, and tells which block is pointed at.

import { requestColour, scheme } from "./colours.js";
import { model, setData, setGlyph } from "./figure.js";
import { PARTS } from "./recording.js";

const LABELS_FROM = 26; // px of cell width from which ids are printed
const NUMBERS_FROM = 34; // and block numbers
const DIM = 0.16;

// Columns and cell size for `blocks` cells in `width` px: columns of a power of two, as people count memory.
export function gridShape(blocks, width) {
  let columns = width < 560 ? 8 : 16;
  while (blocks / columns > 12 && width / columns > 20) {
    columns *= 2;
  }
  columns = Math.min(columns, Math.max(8, blocks));
  const rows = Math.ceil(blocks / columns);
  const cell = width / columns;
  const height = Math.max(Math.min(cell * 1.25, 62), Math.min(cell, 44));
  return { columns, rows, cell, height: rows > 16 ? Math.min(height, Math.max(cell, 6)) : height };
}

const emptySpans = () => ({ left: [], right: [], bottom: [], top: [], colour: [], alpha: [], line: [] });
const emptyEdges = () => ({ left: [], right: [], bottom: [], top: [] });

export class PoolGrid {
  constructor(place) {
    this._place = place;
    this._figure = model("pool");
    this._shape = null;
    this._laidOut = "";
  }

  // Sets cells and numbers; only when the pool, the width or the labels' place has changed.
  layOut(recording) {
    const width = this._place.clientWidth;
    if (!width) {
      return false;
    }
    const key = `${recording.numBlocks} ${width}`;
    if (this._laidOut === key) {
      return true;
    }
    this._laidOut = key;
    const shape = gridShape(recording.numBlocks, width);
    // Cells keep a gap of 2 px, and a strip for the block's number above what is filled.
    const roomy = shape.cell >= NUMBERS_FROM;
    this._shape = {
      ...shape,
      gapX: Math.min(shape.cell > 12 ? 1.5 / shape.cell : 0.04, 0.1),
      gapY: Math.min(shape.height > 12 ? 1.5 / shape.height : 0.04, 0.1),
      strip: roomy ? 13 / shape.height : 0,
      labels: shape.cell >= LABELS_FROM,
    };
    this._figure.x_range.setv({ start: 0, end: shape.columns });
    this._figure.y_range.setv({ start: shape.rows, end: 0 });
    const height = Math.round(shape.rows * shape.height);
    this._place.style.height = `${height}px`;
    this._figure.height = height;
    const cells = emptyEdges();
    const numbers = { x: [], y: [], text: [] };
    for (let block = 0; block < recording.numBlocks; block++) {
      this._push(cells, block, 0, 1);
      if (roomy) {
        numbers.x.push((block % shape.columns) + this._shape.gapX + 3 / shape.cell);
        numbers.y.push(Math.floor(block / shape.columns) + this._shape.gapY + 2 / shape.height);
        numbers.text.push(String(block));
      }
    }
    setData("pool.cells", cells);
    setData("pool.numbers", numbers);
    return true;
  }

  // Appends the part of a cell between two shares of its fill height, counted from its foot.
  _push(edges, block, low, high) {
    const { columns, gapX, gapY, strip } = this._shape;
    const x = block % columns;
    const y = Math.floor(block / columns);
    const foot = y + 1 - gapY;
    const room = 1 - 2 * gapY - strip;
    edges.left.push(x + gapX);
    edges.right.push(x + 1 - gapX);
    edges.bottom.push(foot - low * room);
    edges.top.push(low === 0 && high === 1 && edges.colour === undefined ? y + gapY : foot - high * room);
  }

  draw(recording, t, lit, theme) {
    if (!this.layOut(recording)) {
      return;
    }
    const frame = recording.frame(t);
    const size = recording.blockSize;
    const colours = scheme(theme);
    const spans = Object.fromEntries(PARTS.map((part) => [part, emptySpans()]));
    const marks = { ...emptyEdges(), colour: [], alpha: [], dash: [] };
    const labels = new Map();
    recording.spans(frame, (row, block, low, high, part) => {
      const colour = requestColour(row.seq);
      const alpha = lit && !lit.seqs.has(row.seq) ? DIM : 1;
      const into = spans[part];
      this._push(into, block, low / size, high / size);
      into.colour.push(colour.fill);
      into.alpha.push(alpha);
      into.line.push(colours.cell_line);
      const seen = labels.get(block);
      if (!seen || high - low > seen.span) {
        labels.set(block, { seq: row.seq, colour, alpha, span: high - low, solid: part === "real" && high - low > size / 2 });
      }
    });
    for (const part of PARTS) {
      setData(`pool.${part}`, spans[part]);
    }
    const text = { x: [], y: [], text: [], colour: [], chip: [], alpha: [] };
    const { columns, strip, gapX, gapY, cell, height } = this._shape;
    for (const [block, { seq, colour, alpha }] of labels) {
      if (colour.dash && this._shape.labels) {
        const inset = 3;
        marks.left.push((block % columns) + gapX + inset / cell);
        marks.right.push((block % columns) + 1 - gapX - inset / cell);
        marks.top.push(Math.floor(block / columns) + gapY + strip + inset / height);
        marks.bottom.push(Math.floor(block / columns) + 1 - gapY - inset / height);
        marks.colour.push(colours.ink);
        marks.alpha.push(alpha);
        marks.dash.push(colour.dash);
      }
      if (this._shape.labels) {
        text.x.push((block % columns) + 0.5);
        text.y.push(Math.floor(block / columns) + strip + (1 - strip) / 2);
        text.text.push(`r${seq}`);
        text.colour.push(colour.label);
        text.chip.push(colour.fill);
        text.alpha.push(alpha === 1 ? 1 : 0.3);
      }
    }
    setData("pool.marks", marks);
    setData("pool.labels", text);
    this._drawExternal(recording, frame);
    this._drawChanged(recording, t);
    const chosen = emptyEdges();
    if (lit?.block !== undefined && lit.block < recording.numBlocks) {
      this._push(chosen, lit.block, 0, 1);
    }
    setData("pool.chosen", chosen);
  }

  _drawExternal(recording, frame) {
    const edges = emptyEdges();
    const size = recording.blockSize;
    for (const [start, end] of recording.tooSmallHoles(frame)) {
      for (let slot = start; slot < end; slot = Math.min(end, slot - (slot % size) + size)) {
        const high = Math.min(end - (slot - (slot % size)), size);
        this._push(edges, Math.floor(slot / size), (slot % size) / size, high / size);
      }
    }
    setData("pool.external", edges);
  }

  // Blocks that changed hands in this step: a solid outline if handed out, a dashed one if given back.
  _drawChanged(recording, t) {
    const changed = { ...emptyEdges(), dash: [] };
    if (this._shape.labels) {
      const last = new Map();
      for (const { kind, blocks } of recording.events(t)) {
        const dash = /Freed$/.test(kind) ? [4, 3] : /Allocated$/.test(kind) ? [] : null;
        for (const block of dash ? blocks : []) {
          last.set(block, dash);
        }
      }
      for (const [block, dash] of last) {
        this._push(changed, block, 0, 1);
        changed.dash.push(dash);
      }
    }
    setData("pool.changed", changed);
  }

  recolour(theme) {
    const colours = scheme(theme);
    setGlyph("pool.cells.glyph", { fill_color: colours.free, line_color: colours.cell_line });
    setGlyph("pool.external.glyph", { hatch_color: colours.external });
    setGlyph("pool.changed.glyph", { line_color: colours.ink });
    setGlyph("pool.chosen.glyph", { line_color: colours.real });
    setGlyph("pool.numbers.glyph", { text_color: colours.muted });
  }

  // The block under a pointer, or null.
  blockAt(event, recording) {
    if (!this._shape) {
      return null;
    }
    const box = this._place.getBoundingClientRect();
    const column = Math.floor(((event.clientX - box.left) / box.width) * this._shape.columns);
    const row = Math.floor(((event.clientY - box.top) / box.height) * this._shape.rows);
    const block = row * this._shape.columns + column;
    const inside = column >= 0 && column < this._shape.columns && row >= 0 && block >= 0 && block < recording.numBlocks;
    return inside ? block : null;
  }
}
