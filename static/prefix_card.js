// The card "Radix tree" (or "Chains of block hashes") of the Simulate tab: the picture, its words and its table.

import { requestChip } from "./colours.js";
import { make } from "./make.js";
import { PoolTip } from "./pool_tip.js";
import { RadixTree } from "./radix_tree.js";
import { say, text } from "./text.js";

// Sequences that hold a node, in the order of the block tables.
export function usersOf(frame, node) {
  return frame.rows.filter(({ blocks }) => node.blocks.some((block) => blocks.includes(block)));
}

// Whether a focus lights a node: itself, the block that it keeps, or somebody who holds it.
function lighter(lit, frame) {
  if (!lit) {
    return null;
  }
  const held = new Set();
  if (lit.node === undefined) {
    for (const { seq, blocks } of frame.rows) {
      if (lit.block === undefined && lit.seqs.has(seq)) {
        blocks.forEach((block) => held.add(block));
      }
    }
  }
  return ({ id, blocks }) =>
    lit.node !== undefined ? id === lit.node : blocks.some((each) => (lit.block === undefined ? held.has(each) : each === lit.block));
}

export class PrefixCard {
  // state: where a node that is pointed at goes as "preview", and one that is clicked as "pinned".
  constructor(state, togglePin) {
    const find = (id) => document.getElementById(id);
    this.card = find("prefix-card");
    this._place = find("prefix-figure");
    this._labels = find("prefix-labels");
    this._title = find("prefix-title");
    this._aside = find("prefix-aside");
    this._words = find("prefix-words");
    this._twin = find("prefix-twin");
    this._body = find("prefix-table").tBodies[0];
    this._tip = new PoolTip(find("prefix-tip"));
    this._tree = null;
    this._shown = null; // frame that was drawn last
    this._told = "";
    this._passed = 0; // frames of a drag
    const glass = find("prefix-glass");
    glass.addEventListener("pointermove", (event) => {
      const id = this._tree?.nodeAt(event) ?? null;
      if (event.pointerType === "mouse") {
        state.set({ preview: id === null ? null : `n${id}` });
        this._tip.say(id === null ? null : this._about(id), event);
      }
    });
    glass.addEventListener("pointerleave", () => {
      state.set({ preview: null });
      this._tip.hide();
    });
    glass.addEventListener("click", (event) => {
      const id = this._tree?.nodeAt(event) ?? null;
      if (id !== null) {
        togglePin(state, `n${id}`);
      }
    });
    const unfolded = () => state.set({ prefixesOpen: this.card.open, prefixTwin: this._twin.open });
    this.card.addEventListener("toggle", unfolded);
    this._twin.addEventListener("toggle", unfolded);
  }

  // The picture alone. Of the frames that a drag passes it shows every third, and the one where it rests.
  draw(recording, t, lit, theme, dragging = false) {
    const { prefixes } = recording;
    this._passed = dragging ? (this._passed + 1) % 3 : 0;
    if (this._passed) {
      return;
    }
    if (this.card.hidden !== !prefixes) {
      this.card.hidden = !prefixes;
    }
    if (!prefixes || !this.card.open) {
      return;
    }
    if (!this._tree) {
      this._latest = [recording, t, lit, theme];
      this._opening ??= RadixTree.open(this._place, this._labels).then((tree) => {
        this._tree = tree;
        this.draw(...this._latest);
      });
      return;
    }
    const moved = !dragging && this._recording === recording && Math.abs(t - this._shown) === 1;
    const key = [t, theme, this._tree.width, lit && [...lit.seqs, "b", lit.block, "n", lit.node]].join(" ");
    if (this._recording === recording && this._drawn === key) {
      return;
    }
    this._drawn = key;
    this._tree.draw(prefixes, t, lighter(lit, recording.frame(t)), theme, moved);
    this._recording = recording;
    this._shown = t;
  }

  // At rest: what the picture says, in words and as a table.
  tell(recording, t, pinned, lang) {
    const { prefixes } = recording;
    if (!prefixes) {
      return;
    }
    const tree = prefixes.at(t);
    const nodes = [...tree.values()];
    const key = `${lang} ${recording.settings.cache} ${t} ${this._twin.open}`;
    if (this._told === key && this._of === tree) {
      this._press(pinned); // rows stay where they are, and so does the keyboard's focus
      return;
    }
    this._told = key;
    this._of = tree;
    say(this._title, text(`page.prefixes.${recording.settings.cache}`));
    const tokens = nodes.reduce((sum, { length }) => sum + length, 0);
    const used = nodes.filter(({ users }) => users).length;
    say(this._aside, text("page.prefixes.aside", { nodes: nodes.length, tokens, used }));
    const before = t > 0 ? prefixes.at(t - 1) : tree;
    const names = (from, others) => [...from.keys()].filter((id) => !others.has(id)).map((id) => `n${id}`).join(" ");
    const sentences = [text(nodes.length ? "page.prefixes.words" : "page.prefixes.empty")];
    for (const [what, found] of [["changed", names(tree, before)], ["gone", names(before, tree)]]) {
      if (found) {
        sentences.push(text(`page.prefixes.${what}`, { names: found }));
      }
    }
    say(this._words, sentences.join(" "));
    if (this._twin.open) {
      const frame = recording.frame(t);
      this._body.replaceChildren(...nodes.map((node) => this._row(recording, frame, tree, node)));
      this._press(pinned);
    }
  }

  _press(pinned) {
    for (const button of this._body.querySelectorAll("button")) {
      button.setAttribute("aria-pressed", String(button.dataset.focus === pinned));
    }
  }

  _row(recording, frame, tree, node) {
    const { id, parent, start, length, blocks, users, used } = node;
    const button = make("button", "focus-button", `n${id}`);
    button.type = "button";
    button.dataset.focus = `n${id}`;
    button.setAttribute("aria-label", text("page.prefixes.focus", { node: id }));
    const head = make("th", "", button);
    head.scope = "row";
    const after = parent === 0 ? text("page.prefixes.root") : tree.has(parent) ? `n${parent}` : text("page.prefixes.lost");
    const holders = usersOf(frame, node).flatMap(({ seq }) => [requestChip(recording.name(seq)), " "]);
    return make(
      "tr", "", head, make("td", "", after), make("td", "", `${start + 1}–${start + length}`),
      make("td", "places", blocks.join(" ")),
      make("td", "", ...(holders.length ? holders : [text("page.prefixes.nobody")])),
      make("td", "", users ? text("page.prefixes.now") : text("page.prefixes.step", { step: used })),
    );
  }

  _about(id) {
    const { _recording: recording, _shown: t } = this;
    const node = recording.prefixes.at(t).get(id);
    const names = usersOf(recording.frame(t), node).map(({ seq }) => recording.name(seq)).join(" ");
    const who = names ? text("page.prefixes.tip.used", { names }) : text("page.prefixes.tip.unused", { step: node.used });
    const { start, length, blocks } = node;
    return text("page.prefixes.tip", { node: id, first: start + 1, last: start + length, places: blocks.join(" "), who });
  }
}
