import assert from "node:assert/strict";
import test from "node:test";

import { layOut, origins, PrefixHistory } from "../../static/prefix_history.js";

// A prompt of 12 tokens that splits at 8 when another comes, and loses its tail in the end.
const columns = {
  frames: { tree: [0, 1, 1, 2, 3] },
  trees: { start: [0, 0, 1, 4, 6], node: [0, 2, 1, 3, 2, 3], users: [1, 2, 1, 1, 0, 0], used: [1, 3, 1, 3, 4, 4] },
  nodes: {
    id: [1, 1, 2, 3],
    parent: [0, 2, 0, 2],
    start: [0, 8, 0, 8],
    length: [12, 4, 8, 8],
    blocks: [[5, 6, 7], [7], [5, 6], [8, 9]],
  },
};

test("a frame's tree has the nodes of its version, and frames that share one share the object", () => {
  const history = new PrefixHistory(columns);
  assert.equal(history.at(0).size, 0);
  assert.equal(history.at(1), history.at(2));
  assert.deepEqual(history.at(1).get(1), { id: 1, parent: 0, start: 0, length: 12, blocks: [5, 6, 7], users: 1, used: 1 });
  assert.deepEqual([...history.at(3).keys()], [2, 1, 3]);
  assert.deepEqual([...history.at(4).keys()], [2, 3]);
});

test("the extent is that of the whole run", () => {
  assert.deepEqual(new PrefixHistory(columns).extent, { leaves: 2, end: 16 });
});

test("a block's node and first token are found: pages of a tree, equal blocks of a chain", () => {
  const history = new PrefixHistory(columns);
  const found = history.nodeOf(9, 3, 4);
  assert.deepEqual([found.node.id, found.first], [3, 12]);
  assert.equal(history.nodeOf(9, 1, 4), null);
  const chain = new PrefixHistory({
    frames: { tree: [0] },
    trees: { start: [0, 1], node: [0], users: [0], used: [0] },
    nodes: { id: [4], parent: [0], start: [8], length: [4], blocks: [[3, 9]] },
  });
  assert.equal(chain.nodeOf(9, 0, 4).first, 8);
});

test("a leaf has a lane and a parent those of what hangs on it", () => {
  const places = layOut(new PrefixHistory(columns).at(3));
  assert.deepEqual(places.get(2), { left: 0, right: 8, top: 0, bottom: 2 });
  assert.deepEqual(places.get(1), { left: 8, right: 12, top: 0, bottom: 1 });
  assert.deepEqual(places.get(3), { left: 8, right: 16, top: 1, bottom: 2 });
});

test("what has lost its parent is laid out where its tokens are", () => {
  const orphan = new Map([[7, { id: 7, parent: -1, start: 8, length: 4 }]]);
  assert.deepEqual(layOut(orphan).get(7), { left: 8, right: 12, top: 0, bottom: 1 });
});

test("a split begins as the bar that it was, and what is new grows from its left edge", () => {
  const history = new PrefixHistory(columns);
  const from = origins(history.at(3), layOut(history.at(3)), layOut(history.at(1)));
  assert.deepEqual(from.get(2), { left: 0, right: 8, top: 0, bottom: 1 });
  assert.deepEqual(from.get(1), { left: 8, right: 12, top: 0, bottom: 1 });
  assert.deepEqual(from.get(3), { left: 8, right: 8, top: 1, bottom: 2 });
});
