// Fills the picture of the pool from a frame, and tells which block is pointed at. The picture is a sketch until the
// figure "pool" is open (pool_sketch.js, pool_figure.js): both have resize, set and recolour.

import { colourOf, scheme } from "./colours.js";
import { dressForExport } from "./figure.js";
import { emptyHatch, HATCHES, pushHatch } from "./hatch.js";
import { PoolFigure } from "./pool_figure.js";
import { PoolLabels } from "./pool_labels.js";
import { PoolSketch } from "./pool_sketch.js";

const LABELS_FROM = 26; // px of cell width from which ids are printed
const NUMBERS_FROM = 34; // and block numbers
const HATCHES_FROM = 14; // and hatches: in smaller cells a paler fill says the same
const GLYPH = 8.2; // px a character of a label at its usual size
const DIM = 0.16;
const FAINT = { light: 0.14, dark: 0.32 }; // how solid the ground of a hatch is filled

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

// What a cell says: the sequence; of a block that several hold, their request and how many.
function cellLabel(name, rows) {
  const short = name === "prefix" ? "pre" : name;
  return rows ? `${short.split(".")[0]}\u200a×${rows.length}` : short;
}

const emptyEdges = () => ({ left: [], right: [], bottom: [], top: [] });

export class PoolGrid {
  constructor(place, glass) {
    this._place = place;
    this._labels = new PoolLabels(place, glass);
    this._picture = new PoolSketch(place);
    this._cells = null;
    this._shape = null;
    this._laidOut = "";
    // On the page the text lies over the figure (pool_labels.js); only an exported picture carries its own.
    this._texts = { "pool.labels": null, "pool.numbers": null };
    dressForExport("pool", (on) => {
      for (const [name, columns] of Object.entries(this._texts)) {
        const none = Object.fromEntries(Object.keys(columns).map((key) => [key, []]));
        this._picture.set(name, on ? columns : none);
      }
    });
  }

  // Goes over to the figure, which is open now; what is in the cells comes with the next drawing.
  toFigure() {
    this._picture.remove();
    this._picture = new PoolFigure();
    if (this._cells) {
      this._fit();
    }
  }

  _fit() {
    const height = Math.round(this._shape.rows * this._shape.height);
    this._place.style.height = `${height}px`;
    this._picture.resize(this._shape, height);
    this._picture.set("pool.cells", this._cells);
  }

  // Sets cells and numbers; only when the pool, the width or the labels' place has changed.
  layOut(recording, width) {
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
    const cells = emptyEdges();
    const numbers = { x: [], y: [], text: [] };
    for (let block = 0; block < recording.numBlocks; block++) {
      for (const [edge, at] of Object.entries(this._cell(block))) {
        cells[edge].push(at);
      }
      if (roomy) {
        numbers.x.push((block % shape.columns) + this._shape.gapX + 3 / shape.cell);
        numbers.y.push(Math.floor(block / shape.columns) + this._shape.gapY + 2 / shape.height);
        numbers.text.push(String(block));
      }
    }
    this._cells = cells;
    this._fit();
    this._texts["pool.numbers"] = numbers;
    this._labels.layOut(recording.numBlocks, this._shape);
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
    edges.top.push(foot - high * room);
  }

  // width: of the picture in px; 0 while it is out of sight.
  draw(recording, t, lit, theme, width) {
    if (!this.layOut(recording, width)) {
      return;
    }
    const frame = recording.frame(t);
    const size = recording.blockSize;
    const colours = scheme(theme);
    const spans = { ...emptyEdges(), colour: [], fill: [], alpha: [], line: [] };
    const outlines = { ...emptyEdges(), colour: [], alpha: [], dash: [], width: [] };
    const labels = new Map();
    const hatches = emptyHatch();
    const hatched = this._shape.cell >= HATCHES_FROM;
    const isLit = ({ seq }) => lit.seqs.has(seq);
    recording.spans(frame, (row, block, low, high, part, rows) => {
      const name = recording.name(row.seq);
      const colour = colourOf(name);
      const alpha = lit && !(lit.blocks ? lit.blocks.has(block) : rows ? rows.some(isLit) : isLit(row)) ? DIM : 1;
      this._push(spans, block, low / size, high / size);
      spans.colour.push(colour.fill);
      spans.fill.push(part === "real" ? alpha : FAINT[theme] * (hatched ? 1 : 2) * alpha);
      spans.alpha.push(alpha);
      spans.line.push(colours.cell_line);
      if (hatched && HATCHES[part]) {
        const { cell, height } = this._shape;
        const rectangle = {
          left: spans.left.at(-1) * cell,
          right: spans.right.at(-1) * cell,
          top: spans.top.at(-1) * height,
          bottom: spans.bottom.at(-1) * height,
        };
        pushHatch(hatches, rectangle, HATCHES[part], colour.fill, alpha, cell, height);
      }
      const seen = labels.get(block);
      if (!seen || high - low > seen.span) {
        labels.set(block, { label: cellLabel(name, rows), colour, alpha, span: high - low, solid: part === "real" });
      }
    });
    this._pushCached(spans, outlines, labels, recording, frame, lit, colours);
    this._picture.set("pool.spans", spans);
    this._picture.set("pool.hatch", hatches);
    const text = { x: [], y: [], text: [], colour: [], chip: [], alpha: [], plate: [], size: [] };
    const { columns, strip, gapX, gapY, cell, height } = this._shape;
    for (const [block, { label, colour, alpha, solid }] of labels) {
      if (colour.dash && this._shape.labels) {
        const inset = 3; // px
        this._outline(outlines, colours.ink, alpha, colour.dash, 1.5, {
          left: (block % columns) + gapX + inset / cell,
          right: (block % columns) + 1 - gapX - inset / cell,
          top: Math.floor(block / columns) + gapY + strip + inset / height,
          bottom: Math.floor(block / columns) + 1 - gapY - inset / height,
        });
      }
      if (this._shape.labels) {
        text.x.push((block % columns) + 0.5);
        text.y.push(Math.floor(block / columns) + strip + (1 - strip) / 2);
        text.text.push(label);
        text.size.push(label.length * GLYPH > cell ? "10px" : "12px");
        text.colour.push(colour.label);
        text.chip.push(colour.fill);
        text.alpha.push(alpha === 1 ? 1 : 0.3);
        text.plate.push(solid ? 0 : alpha === 1 ? 1 : 0.3); // on its owner's colour a label needs no plate
      }
    }
    this._texts["pool.labels"] = text;
    this._labels.show(labels);
    this._drawExternal(recording, frame);
    if (this._shape.labels) {
      this._outlineChanged(outlines, recording, t, colours.ink);
    }
    if (lit?.block !== undefined && lit.block < recording.numBlocks) {
      this._outline(outlines, colours.real, 1, [], 4, this._cell(lit.block));
    }
    this._picture.set("pool.outlines", outlines);
  }

  // What is cached and used by nobody: grey, dashed, with the node that it belongs to.
  _pushCached(spans, outlines, labels, recording, frame, lit, colours) {
    const owners = recording.prefixes?.owners(frame.t);
    const plate = { fill: colours.cached, label: colours.ink, dash: null };
    for (const block of frame.cached_blocks) {
      const alpha = lit && !(lit.blocks?.has(block) || lit.block === block) ? DIM : 1;
      this._push(spans, block, 0, 1);
      spans.colour.push(colours.cached);
      spans.fill.push(alpha);
      spans.alpha.push(0);
      spans.line.push(colours.cached);
      this._outline(outlines, colours.muted, alpha, [4, 3], 1.5, this._cell(block));
      if (this._shape.labels) {
        labels.set(block, { label: `n${owners.get(block).id}`, colour: plate, alpha, span: 0, solid: true });
      }
    }
  }

  _outline(into, colour, alpha, dash, width, edges) {
    for (const edge in edges) {
      into[edge].push(edges[edge]);
    }
    into.colour.push(colour);
    into.alpha.push(alpha);
    into.dash.push(dash);
    into.width.push(width);
  }

  _cell(block) {
    const { columns, gapX, gapY } = this._shape;
    const x = block % columns;
    const y = Math.floor(block / columns);
    return { left: x + gapX, right: x + 1 - gapX, top: y + gapY, bottom: y + 1 - gapY };
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
    this._picture.set("pool.external", edges);
  }

  // Blocks that changed hands in this step: a solid outline if handed out, a dashed one if given back.
  _outlineChanged(into, recording, t, ink) {
    const last = new Map();
    for (const { kind, blocks } of recording.events(t)) {
      const copied = kind === "BlockCopied"; // from its first block to its second
      const dash = /Freed$/.test(kind) ? [4, 3] : copied || /(Allocated|Hit)$/.test(kind) ? [] : null;
      for (const block of dash ? blocks.slice(Number(copied)) : []) {
        last.set(block, dash);
      }
    }
    for (const [block, dash] of last) {
      this._outline(into, ink, 1, dash, 2, this._cell(block));
    }
  }

  recolour(theme) {
    this._picture.recolour(scheme(theme));
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
