// A recorded run: columns per step, as app/backend/columns.py makes them. Nothing here changes them.

import { PrefixHistory } from "./prefix_history.js";

// Kinds of events, the most telling first: what a step's headline is chosen by.
const WEIGHT = [
  "Rejected", "Outgrown", "Preempted", "SwappedOut", "Waiting", "SwappedIn", "Recovered", "BlocksEvicted", "NodeSplit",
  "PrefixHit", "Finished", "Admitted", "PrefixShared", "Forked", "Dropped", "BlockCopied", "PrefixCached",
  "DuplicatesFreed", "RegionReserved", "BlocksAllocated", "RegionFreed", "BlocksFreed", "Arrived",
];
const MARKS = {
  Finished: "finish", Waiting: "wait", Preempted: "preempt", Rejected: "reject",
  BlockCopied: "copy", SwappedOut: "swap", SwappedIn: "swap", BlocksEvicted: "evict",
};
const SHARING = new Set(["Forked", "PrefixShared", "BlockCopied", "PrefixHit", "DuplicatesFreed"]);
const NOBODY = new Map();

export class Recording {
  // columns: sources.recording of a simulate response; settings: the settings it was made with.
  constructor(columns, settings) {
    this.columns = columns;
    this.settings = settings;
    this.steps = columns.steps;
    this.paged = columns.mode === "paged";
    this.numBlocks = columns.num_blocks;
    this.blockSize = columns.block_size;
    this.capacity = columns.capacity;
    this.shares = this.paged && columns.events.kind.some((kind) => SHARING.has(kind));
    this.prefixes = columns.trees ? new PrefixHistory(columns) : null;
    this._frame = null;
    this._marks = null;
  }

  // How a sequence is shown: "r5", "r5.2" for a further sequence of r5, "prefix" for the operator's.
  name(seq) {
    return this.columns.seqs?.name[seq] ?? `r${seq}`;
  }

  // The sequences that a name stands for: "r5" is a request with all its sequences, "r5.2" is one of them.
  named(name) {
    const { name: names = [], request = [] } = this.columns.seqs ?? {};
    const seq = names.indexOf(name);
    const family = new Set();
    request.forEach((of, each) => of === seq && family.add(each));
    return seq < 0 || family.size ? family : new Set([seq]);
  }

  // Frame t: its counts, and rows of who holds memory. The last one is kept, as several pictures ask for it.
  frame(t) {
    if (this._frame?.t !== t) {
      this._frame = this._read(t);
    }
    return this._frame;
  }

  _read(t) {
    const { columns } = this;
    const { frames, rows, waits, tables } = columns;
    const frame = { t };
    for (const name in frames) {
      frame[name] = frames[name][t];
    }
    frame.cached ??= 0;
    frame.cached_blocks = columns.cached?.block.slice(frames.cached_start[t], frames.cached_start[t + 1]) ?? [];
    frame.waiting_seqs = waits.seq.slice(frames.wait_start[t], frames.wait_start[t + 1]);
    frame.rows = [];
    for (let i = frames.row_start[t]; i < frames.row_start[t + 1]; i++) {
      const held = rows.held[i];
      const row = { seq: rows.seq[i], tokens: rows.tokens[i], final: rows.final[i], held, start: 0, blocks: null };
      if (this.paged) {
        row.blocks = tables[rows.table[i]].slice(0, Math.ceil(held / this.blockSize));
      } else {
        row.start = rows.table[i];
      }
      frame.rows.push(row);
    }
    frame.shared = this.shares ? this._shared(frame.rows) : NOBODY;
    frame.saved = 0;
    frame.most_holders = 1;
    for (const { rows: holders } of frame.shared.values()) {
      frame.saved += holders.length - 1;
      frame.most_holders = Math.max(frame.most_holders, holders.length);
    }
    frame.empty_held = frame.reserved + frame.internal;
    frame.held = frame.real + frame.empty_held;
    frame.waste_used = frame.held ? 1 - frame.real / frame.held : 0;
    frame.waste_pool = 1 - (frame.real + frame.cached) / this.capacity; // what is cached is real KV
    return frame;
  }

  // Blocks that several rows hold: block → {rows, real, ever}. Of its slots count as real, or as real some day,
  // those that are so for any holder, as in pycore/memory/waste.py.
  _shared(rows) {
    const held = new Map();
    const size = this.blockSize;
    for (const row of rows) {
      row.blocks.forEach((block, i) => {
        const known = held.get(block) ?? { rows: [], real: 0, ever: 0 };
        known.rows.push(row);
        known.real = Math.max(known.real, Math.min(size, row.tokens - i * size));
        known.ever = Math.max(known.ever, known.real, Math.min(size, row.final - i * size));
        held.set(block, known);
      });
    }
    for (const [block, { rows: holders }] of held) {
      if (holders.length < 2) {
        held.delete(block);
      }
    }
    return held;
  }

  // Rows that hold a block; in a contiguous pool those that hold a part of it.
  holders(frame, block) {
    if (frame.shared.has(block)) {
      return frame.shared.get(block).rows;
    }
    if (this.paged) {
      return frame.rows.filter(({ blocks }) => blocks.includes(block));
    }
    const [low, high] = [block * this.blockSize, (block + 1) * this.blockSize];
    return frame.rows.filter(({ start, held }) => start < high && start + held > low);
  }

  // Calls visit(row, block, low, high, part, rows) for every stretch of slots of a block that is one part of one
  // row: slots [low, high) counted inside the block; part is "real", "reserved" or "internal". A shared block is
  // visited once, for the first of its `rows`; else `rows` is undefined.
  spans(frame, visit) {
    const size = this.blockSize;
    for (const [block, { rows, real, ever }] of frame.shared) {
      [0, real, ever, size].forEach((high, i, edges) => {
        if (i && high > edges[i - 1]) {
          visit(rows[0], block, edges[i - 1], high, PARTS[i - 1], rows);
        }
      });
    }
    for (const row of frame.rows) {
      const ends = [row.tokens, Math.max(row.tokens, Math.min(row.final, row.held)), row.held];
      let at = 0;
      for (let part = 0; part < 3; part++) {
        while (at < ends[part]) {
          const slot = this.paged ? at : row.start + at;
          const piece = Math.min(ends[part] - at, size - (slot % size));
          const index = (slot - (slot % size)) / size;
          const block = this.paged ? row.blocks[index] : index;
          if (!frame.shared.has(block)) {
            visit(row, block, slot % size, (slot % size) + piece, PARTS[part]);
          }
          at += piece;
        }
      }
    }
  }

  // Free stretches of a contiguous pool that are smaller than what the head of the queue wants: [start, end).
  tooSmallHoles(frame) {
    if (this.paged || !frame.external) {
      return [];
    }
    const holes = [];
    let end = 0;
    const taken = frame.rows.map((row) => [row.start, row.start + row.held]).sort((a, b) => a[0] - b[0]);
    for (const [start, stop] of [...taken, [this.capacity, this.capacity]]) {
      if (start > end && start - end < frame.head_needed) {
        holes.push([end, start]);
      }
      end = Math.max(end, stop);
    }
    return holes;
  }

  // Who held a block last before or in frame t, as {seq, t}; null if nobody ever did.
  lastHolder(block, t) {
    for (let at = t; at >= 0; at--) {
      const rows = this.holders(this._read(at), block);
      if (rows.length) {
        return { seq: rows.at(-1).seq, t: at };
      }
    }
    return null;
  }

  // Events of frame t: {kind, seq, blocks, nodes, index}; the sentence is sentence(index, lang).
  events(t) {
    const { frames, events } = this.columns;
    const found = [];
    for (let i = frames.event_start[t]; i < frames.event_start[t + 1]; i++) {
      const nodes = events.nodes?.[i] ?? [];
      found.push({ index: i, kind: events.kind[i], seq: events.seq[i], blocks: events.blocks[i], nodes });
    }
    return found;
  }

  sentence(index, lang) {
    return this.columns.events[lang][index];
  }

  // The event that tells most about frame t, or undefined.
  mainEvent(t) {
    const rank = (event) => (WEIGHT.indexOf(event.kind) + WEIGHT.length + 1) % (WEIGHT.length + 1);
    return this.events(t).sort((a, b) => rank(a) - rank(b) || a.index - b.index)[0];
  }

  // Frames with marks on the time line, by kind of mark: {finish: [frame…], wait: …}.
  get marks() {
    if (!this._marks) {
      const { frames, events } = this.columns;
      this._marks = Object.fromEntries(Object.values(MARKS).map((mark) => [mark, []]));
      let waiting = null; // whose wait was told last: only the beginning of a wait is marked
      for (let t = 0; t <= this.steps; t++) {
        for (let i = frames.event_start[t]; i < frames.event_start[t + 1]; i++) {
          const steps = this._marks[MARKS[events.kind[i]]];
          const known = events.kind[i] === "Waiting" && events.seq[i] === waiting;
          waiting = events.kind[i] === "Waiting" ? events.seq[i] : waiting;
          if (steps && !known && steps.at(-1) !== t) {
            steps.push(t);
          }
        }
      }
    }
    return this._marks;
  }

  // The nearest frame with a mark after (direction 1) or before (−1) frame t, or null.
  nextMarked(t, direction) {
    const ahead = Object.values(this.marks).flat().filter((at) => (at - t) * direction > 0);
    return ahead.length ? ahead.reduce((a, b) => ((b - a) * direction < 0 ? b : a)) : null;
  }

  // The first frame in which a request waits though slots are held and empty, or null.
  firstWastefulWait() {
    const { head, reserved, internal } = this.columns.frames;
    const t = head.findIndex((seq, at) => seq >= 0 && reserved[at] + internal[at] > 0);
    return t < 0 ? null : t;
  }

  get rejectedSeqs() {
    const { kind, seq } = this.columns.events;
    return seq.filter((_, i) => kind[i] === "Rejected");
  }
}

export const PARTS = ["real", "reserved", "internal"];
