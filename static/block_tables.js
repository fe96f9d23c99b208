// The tables of who holds what: block tables (or regions), the queue, and the pool's text twin.

import { requestChip } from "./colours.js";
import { text } from "./text.js";

const MOST_QUEUED = 24; // chips shown of the queue

function cell(content, className) {
  const td = document.createElement("td");
  td.textContent = content;
  td.className = className;
  return td;
}

function focusButton(focus, label, content) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "focus-button";
  button.dataset.focus = focus;
  button.setAttribute("aria-label", label);
  button.append(content);
  return button;
}

// One table row, kept while its request holds memory and changed in place.
class TableRow {
  constructor(seq, name) {
    this.element = document.createElement("tr");
    this.element.dataset.seq = seq;
    this._name = name;
    const head = document.createElement("th");
    head.scope = "row";
    const chip = requestChip(name);
    delete chip.dataset.focus;
    this._button = focusButton(name, text("page.table.focus", { seq: name }), chip);
    head.append(this._button);
    this._tokens = cell("", "num");
    this._held = cell("", "num");
    this._places = cell("", "places");
    this.element.append(head, this._tokens, this._held, this._places);
    this._shown = "";
  }

  // shared: blocks held by others too, see Recording.
  update(row, shared, lit, pinned) {
    const times = (block) => (shared.has(block) ? `×${shared.get(block).rows.length}` : "");
    const places = row.blocks ? row.blocks.map((block) => block + times(block)).join(" ") : `${row.start}–${row.start + row.held - 1}`;
    const key = `${row.tokens} ${row.held} ${places} ${lit?.block ?? ""}`;
    if (key !== this._shown) {
      this._shown = key;
      this._tokens.textContent = row.tokens;
      this._held.textContent = row.held;
      this._places.replaceChildren();
      if (row.blocks) {
        for (const block of row.blocks) {
          const number = document.createElement("span");
          number.dataset.focus = `b${block}`;
          number.textContent = block;
          if (shared.has(block)) {
            const holders = document.createElement("small");
            holders.textContent = times(block);
            number.append(holders);
          }
          number.classList.toggle("lit", lit?.block === block);
          this._places.append(number, " ");
        }
      } else {
        this._places.textContent = places;
      }
    }
    this.element.classList.toggle("dim", Boolean(lit) && !lit.seqs.has(row.seq));
    this.element.classList.toggle("lit", Boolean(lit) && lit.seqs.has(row.seq));
    this._button.setAttribute("aria-pressed", String(pinned === this._name));
  }
}

export class BlockTables {
  constructor() {
    const find = (id) => document.getElementById(id);
    this._body = find("block-tables").tBodies[0];
    this._wrap = this._body.closest(".scroll");
    this._empty = find("tables-empty");
    this._title = find("tables-title");
    this._aside = find("tables-aside");
    this._places = find("table-places");
    this._queue = find("queue");
    this._twin = find("pool-table").tBodies[0];
    this._twinFold = find("twin-fold");
    this._rows = new Map();
    this._queueShown = "";
    this._queueFocus = "";
  }

  // Words and rows depend on language and run: forget all.
  reset(recording) {
    const kind = recording.paged ? "paged" : "contiguous";
    this._title.textContent = text(`page.tables.${kind}`);
    this._aside.textContent = text(`page.tables.aside.${kind}`);
    this._places.textContent = text(recording.paged ? "page.table.blocks" : "page.table.region");
    this._rows.clear();
    this._body.replaceChildren();
    this._queueShown = "";
  }

  draw(recording, t, lit, pinned) {
    const frame = recording.frame(t);
    const rows = frame.rows.map((row) => {
      if (!this._rows.has(row.seq)) {
        this._rows.set(row.seq, new TableRow(row.seq, recording.name(row.seq)));
      }
      const shown = this._rows.get(row.seq);
      shown.update(row, frame.shared, lit, pinned);
      return shown.element;
    });
    const there = this._body.children;
    if (rows.length !== there.length || rows.some((row, i) => row !== there[i])) {
      this._body.replaceChildren(...rows);
    }
    this._wrap.hidden = rows.length === 0;
    this._empty.hidden = rows.length > 0;
    this._drawQueue(recording, frame, lit);
    if (this._twinFold.open) {
      this._drawTwin(recording, frame, pinned);
    }
  }

  _drawQueue(recording, frame, lit) {
    const shown = frame.waiting_seqs.slice(0, MOST_QUEUED);
    const key = `${frame.waiting} ${shown.join(" ")}`;
    if (key !== this._queueShown) {
      this._queueShown = key;
      this._queueFocus = "";
      this._queue.replaceChildren(...shown.flatMap((seq) => [this._queued(seq, recording), " "]));
      if (!shown.length) {
        this._queue.textContent = text("page.queue.empty");
      } else if (frame.waiting_seqs.length > shown.length) {
        this._queue.append(text("page.queue.more", { n: frame.waiting_seqs.length - shown.length }));
      }
    }
    const focusKey = lit ? [...lit.seqs].join(" ") : "";
    if (focusKey === this._queueFocus) {
      return;
    }
    this._queueFocus = focusKey;
    for (const chip of this._queue.children) {
      chip.classList.toggle("dim", Boolean(lit) && !lit.seqs.has(Number(chip.dataset.seq)));
    }
  }

  _queued(seq, recording) {
    const chip = requestChip(recording.name(seq));
    chip.dataset.seq = seq;
    return chip;
  }

  // The pool as a table: only while it is unfolded.
  _drawTwin(recording, frame, pinned) {
    const blocks = Array.from({ length: recording.numBlocks }, () => ({ owners: [], real: 0, reserved: 0, internal: 0 }));
    recording.spans(frame, (row, block, low, high, part, rows = [row]) => {
      blocks[block][part] += high - low;
      for (const name of rows.map(({ seq }) => recording.name(seq))) {
        if (!blocks[block].owners.includes(name)) {
          blocks[block].owners.push(name);
        }
      }
    });
    const owner = recording.prefixes?.owners(frame.t);
    const cached = new Map(frame.cached_blocks.map((block) => [block, owner.get(block).id]));
    const unowned = (block) => (cached.has(block) ? text("page.twin.cached", { node: cached.get(block) }) : text("page.twin.free"));
    const owners = (names) => names.join(" ") + (recording.paged && names.length > 1 ? ` ×${names.length}` : "");
    this._twin.replaceChildren(
      ...blocks.map((each, block) => {
        const row = document.createElement("tr");
        const head = document.createElement("th");
        head.scope = "row";
        const button = focusButton(`b${block}`, text("page.twin.focus", { block }), String(block));
        button.setAttribute("aria-pressed", String(pinned === `b${block}`));
        head.append(button);
        row.append(
          head,
          cell(owners(each.owners) || unowned(block), ""),
          ...["real", "reserved", "internal"].map((part) => cell(each[part], "num")),
        );
        return row;
      }),
    );
  }
}
