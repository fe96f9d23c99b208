import assert from "node:assert/strict";
import test from "node:test";

import { Recording } from "../../static/recording.js";

// Two frames of a pool of 4 blocks of 4 slots: r0 and r1 in frame 1, and r2 waits.
function columns(mode, rows) {
  const each = (value) => [0, value];
  return {
    mode, num_blocks: 4, block_size: 4, capacity: 16, steps: 1,
    frames: {
      running: each(rows.seq.length), waiting: each(1), finished: each(0), rejected: each(0), preemptions: each(0),
      used_blocks: each(3), real: each(6), reserved: each(2), internal: each(4), external: each(4), usable: each(0),
      row_start: [0, 0, rows.seq.length], wait_start: [0, 0, 1], event_start: [0, 0, 3],
      head: [-1, 2], head_needed: each(8), free: each(4), largest_free: each(4),
    },
    rows,
    waits: { seq: [2] },
    tables: [[2, 0, 3], [1]],
    events: {
      kind: ["Arrived", "Waiting", "BlocksAllocated"], seq: [2, 2, 0], blocks: [[], [], [2, 0]],
      en: ["a", "b", "c"], zh: ["甲", "乙", "丙"],
    },
  };
}

function spansOf(recording, t) {
  const found = [];
  recording.spans(recording.frame(t), (row, block, low, high, part) => found.push([row.seq, block, low, high, part]));
  return found;
}

test("a paged row goes through its table block by block", () => {
  const rows = { seq: [0, 1], tokens: [5, 1], final: [7, 1], held: [8, 4], table: [0, 1] };
  assert.deepEqual(spansOf(new Recording(columns("paged", rows), {}), 1), [
    [0, 2, 0, 4, "real"],
    [0, 0, 0, 1, "real"],
    [0, 0, 1, 3, "reserved"],
    [0, 0, 3, 4, "internal"],
    [1, 1, 0, 1, "real"],
    [1, 1, 1, 4, "internal"],
  ]);
});

test("a region that begins inside a block is cut at the block's edge", () => {
  const rows = { seq: [0], tokens: [3], final: [4], held: [6], table: [2] };
  assert.deepEqual(spansOf(new Recording(columns("contiguous", rows), {}), 1), [
    [0, 0, 2, 4, "real"],
    [0, 1, 0, 1, "real"],
    [0, 1, 1, 2, "reserved"],
    [0, 1, 2, 4, "internal"],
  ]);
});

test("holes smaller than what the head of the queue wants are found, larger ones are not", () => {
  const rows = { seq: [0], tokens: [3], final: [4], held: [6], table: [2] };
  assert.deepEqual(new Recording(columns("contiguous", rows), {}).tooSmallHoles({
    external: 2, head_needed: 8, rows: [{ start: 2, held: 6 }],
  }), [[0, 2]]);
});

test("the main event of a step is the one that tells most, not the first", () => {
  const rows = { seq: [0], tokens: [3], final: [4], held: [4], table: [1] };
  const recording = new Recording(columns("paged", rows), {});
  assert.equal(recording.sentence(recording.mainEvent(1).index, "zh"), "乙");
  assert.equal(recording.mainEvent(0), undefined);
});

test("jumps go to the next marked frame in either direction, or nowhere", () => {
  const rows = { seq: [0], tokens: [3], final: [4], held: [4], table: [1] };
  const recording = new Recording(columns("paged", rows), {});
  assert.deepEqual(recording.marks.wait, [1]);
  assert.equal(recording.nextMarked(0, 1), 1);
  assert.equal(recording.nextMarked(1, 1), null);
  assert.equal(recording.nextMarked(1, -1), null);
});

test("the opening frame is the first where one waits though slots are held and empty", () => {
  const rows = { seq: [0], tokens: [3], final: [4], held: [4], table: [1] };
  assert.equal(new Recording(columns("paged", rows), {}).firstWastefulWait(), 1);
});

// r0 and its sample r0.1 share block 2; r0 has block 0 and r0.1 block 3 to itself.
function group() {
  const rows = { seq: [0, 1], tokens: [6, 5], final: [7, 6], held: [8, 8], table: [0, 1] };
  const all = columns("paged", rows);
  all.tables = [[2, 0], [2, 3]];
  all.seqs = { name: ["r0", "r0.1", "r2"], request: [0, 0, 2] };
  all.events.kind[2] = "Forked";
  return new Recording(all, {});
}

test("a shared block is told once, for all who hold it, and counts as saved", () => {
  const recording = group();
  assert.deepEqual(spansOf(recording, 1).filter(([, block]) => block === 2), [[0, 2, 0, 4, "real"]]);
  const frame = recording.frame(1);
  assert.deepEqual(recording.holders(frame, 2).map(({ seq }) => recording.name(seq)), ["r0", "r0.1"]);
  assert.deepEqual(recording.holders(frame, 3).map(({ seq }) => seq), [1]);
  assert.deepEqual([frame.saved, frame.most_holders], [1, 2]);
});

test("a request's name stands for all its sequences, a sample's for that one, an unknown one for nobody", () => {
  const recording = group();
  assert.deepEqual([...recording.named("r0")], [0, 1]);
  assert.deepEqual([...recording.named("r0.1")], [1]);
  assert.deepEqual([...recording.named("r9")], []);
});
