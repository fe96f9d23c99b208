// What a prefix cache knew in each frame of a run, read from its columns (docs/architecture.md). Knows no page.

export class PrefixHistory {
  constructor(columns) {
    this._columns = columns;
    this._trees = new Map();
    this._owners = new Map(); // tree → node by block
    this._extent = null;
  }

  // The tree of frame t: its nodes by number, parents first, each {id, parent, start, length, blocks, users, used}.
  // It is the same object as long as nothing of it changes.
  at(t) {
    const version = this._columns.frames.tree[t];
    if (!this._trees.has(version)) {
      this._trees.set(version, this._read(version));
    }
    return this._trees.get(version);
  }

  _read(version) {
    const { trees, nodes } = this._columns;
    const tree = new Map();
    for (let i = trees.start[version]; i < trees.start[version + 1]; i++) {
      const at = trees.node[i];
      tree.set(nodes.id[at], {
        id: nodes.id[at], parent: nodes.parent[at], start: nodes.start[at], length: nodes.length[at],
        blocks: nodes.blocks[at], users: trees.users[i], used: trees.used[i],
      });
    }
    return tree;
  }

  // Most leaves that a tree of the run has, and where its longest prefix ends, in tokens.
  get extent() {
    if (!this._extent) {
      const { trees, nodes } = this._columns;
      let leaves = 1;
      let end = 1;
      for (let version = 0; version + 1 < trees.start.length; version++) {
        const own = trees.node.slice(trees.start[version], trees.start[version + 1]);
        const parents = new Set(own.map((at) => nodes.parent[at]));
        leaves = Math.max(leaves, own.filter((at) => !parents.has(nodes.id[at])).length);
      }
      for (let at = 0; at < nodes.id.length; at++) {
        end = Math.max(end, nodes.start[at] + nodes.length[at]);
      }
      this._extent = { leaves, end };
    }
    return this._extent;
  }

  // The node whose KV lies in a block in frame t, and the first token there; null if none does.
  nodeOf(block, t, blockSize) {
    const node = this.owners(t).get(block);
    if (!node) {
      return null;
    }
    // A node of a tree has a block for each of its pages; one of a chain all blocks of the same content.
    const own = node.blocks.length * blockSize === node.length;
    return { node, first: node.start + (own ? node.blocks.indexOf(block) * blockSize : 0) };
  }

  // The nodes of frame t by their blocks.
  owners(t) {
    const tree = this.at(t);
    if (!this._owners.has(tree)) {
      const owners = new Map();
      for (const node of tree.values()) {
        node.blocks.forEach((block) => owners.set(block, node));
      }
      this._owners.set(tree, owners);
    }
    return this._owners.get(tree);
  }
}

// Where each node of a tree lies: id → {left, right, top, bottom} in tokens and lanes. A leaf has a lane, a parent
// all lanes of what hangs on it. Siblings are in order of creation, so that a step moves little.
export function layOut(tree) {
  const children = new Map();
  const roots = [];
  for (const node of tree.values()) {
    const siblings = tree.has(node.parent) ? children.get(node.parent) ?? [] : roots;
    siblings.push(node);
    if (siblings !== roots) {
      children.set(node.parent, siblings);
    }
  }
  const places = new Map();
  let lane = 0;
  const place = (node) => {
    const top = lane;
    const below = children.get(node.id) ?? [];
    below.sort((a, b) => a.id - b.id).forEach(place);
    lane = below.length ? lane : lane + 1;
    places.set(node.id, { left: node.start, right: node.start + node.length, top, bottom: lane });
  };
  roots.sort((a, b) => a.id - b.id).forEach(place);
  return places;
}

// Where the nodes of a tree come from if the one before was laid out as `before`: what is new grows from its left
// edge, or, as the upper half of a split, is there from where its lower half began.
export function origins(tree, places, before) {
  const from = new Map();
  for (const [id, place] of places) {
    from.set(id, before.get(id) ?? { ...place, right: place.left });
  }
  for (const node of tree.values()) {
    const old = before.get(node.id);
    if (old && tree.has(node.parent) && !before.has(node.parent)) {
      const upper = places.get(node.parent);
      from.set(node.parent, { ...old, right: upper.right });
      from.set(node.id, { ...old, left: upper.right });
    }
  }
  return from;
}
