import assert from "node:assert/strict";
import test from "node:test";

import { beamRequests, lanesOf, treeOf, withDropped } from "../../static/beam_layout.js";
import { Recording } from "../../static/recording.js";

// r0 searches with width 2 and ends in frame 4: r0.1 is forked in frame 1, r0.2 from r0 in frame 2 when r0.1 is
// dropped, and in frame 3 r0 itself is dropped and r0.2 goes on as two.
function recording() {
  const held = [[], [0, 1], [0, 2], [2, 3], []];
  const rows = held.flat();
  const rowStart = [0, 0, 2, 4, 6, 6];
  const events = [[1, "Forked", 1], [2, "Forked", 2], [2, "Dropped", 1], [3, "Forked", 3], [3, "Dropped", 0]];
  const eventStart = [0, 1, 2, 3, 4, 5].map((t) => events.filter(([at]) => at < t).length);
  return new Recording({
    mode: "paged", num_blocks: 4, block_size: 4, capacity: 16, steps: 4, tables: [[0]],
    seqs: {
      name: ["r0", "r0.1", "r0.2", "r0.3"], request: [0, 0, 0, 0], parent: [-1, 0, 0, 2],
      arrival: [1, 1, 2, 3], finish: [3, 2, 4, 4],
    },
    frames: { row_start: rowStart, wait_start: [0, 0, 0, 0, 0, 0], event_start: eventStart },
    rows: { seq: rows, tokens: rows.map(() => 4), final: rows.map(() => 4), held: rows.map(() => 4), table: rows.map(() => 0) },
    waits: { seq: [] },
    events: { kind: events.map(([, kind]) => kind), seq: events.map(([, , seq]) => seq), blocks: events.map(() => []) },
  }, {});
}

test("a search is told from its prompt to its end, though its first beam was dropped before", () => {
  const tree = treeOf(recording(), 0);
  assert.deepEqual(tree.step, [0, 1, 1, 2, 2, 3, 3]);
  assert.deepEqual(tree.seq, [0, 0, 1, 0, 2, 2, 3]);
  assert.deepEqual(tree.parent, [-1, 0, 0, 1, 1, 4, 4]);
  assert.deepEqual(tree.dropped, [false, false, true, true, false, false, false]);
});

test("only requests that dropped a beam are searches", () => {
  assert.deepEqual([...beamRequests(recording())], [0]);
});

test("a beam keeps its parent's lane, and no two beams of a step share one", () => {
  const tree = treeOf(recording(), 0);
  const lanes = lanesOf(tree);
  assert.deepEqual(lanes, [0, 0, 1, 0, 1, 1, 0]);
  for (const step of new Set(tree.step)) {
    const here = lanes.filter((_, i) => tree.step[i] === step);
    assert.equal(new Set(here).size, here.length);
  }
});

test("an entry without a child was dropped, unless the search ended there", () => {
  assert.deepEqual(withDropped({ step: [0, 1, 1, 2], parent: [-1, 0, 0, 2] }).dropped, [false, true, false, false]);
});
