// The card "Beams" of the Simulate tab: the tree of one request's beams, stepping with the pool.

import { beamRequests, treeOf } from "./beam_layout.js";
import { BeamTree } from "./beam_tree.js";
import { requestChip } from "./colours.js";
import { make } from "./make.js";
import { text } from "./text.js";

export class BeamCard {
  constructor() {
    this._card = document.getElementById("beam-card");
    this._title = document.getElementById("beam-title");
    this._place = document.getElementById("beam-figure");
    this._words = document.getElementById("beam-words");
    this._tree = null;
    this._opening = null;
    this._recording = null;
  }

  draw(recording, t, lit, theme) {
    if (this._recording !== recording) {
      this._recording = recording;
      this._requests = beamRequests(recording);
      this._trees = new Map();
      this._request = null;
      this._said = "";
      this._card.hidden = this._requests.size === 0;
    }
    if (this._card.hidden) {
      return;
    }
    this._latest = { t, lit, theme };
    if (!this._tree) {
      this._opening ??= BeamTree.open(document.getElementById("bokeh-beams")).then((tree) => {
        this._tree = tree;
        this._drawNow();
      });
      return;
    }
    this._drawNow();
  }

  // The request in focus, else the one shown before while it runs, else the first that runs.
  _choose(frame, lit) {
    const { request } = this._recording.columns.seqs;
    const there = frame.rows.map(({ seq }) => request[seq]).filter((each) => this._requests.has(each));
    const focused = [...(lit?.seqs ?? [])].map((seq) => request[seq]).find((each) => this._requests.has(each));
    return focused ?? (there.includes(this._request) ? this._request : there[0]) ?? this._request ?? [...this._requests][0];
  }

  _drawNow() {
    const { t, lit, theme } = this._latest;
    const recording = this._recording;
    const frame = recording.frame(t);
    this._request = this._choose(frame, lit);
    if (!this._trees.has(this._request)) {
      this._trees.set(this._request, treeOf(recording, this._request));
    }
    const tree = this._trees.get(this._request);
    this._tree.draw(tree, t, theme);
    this._say(tree, t);
  }

  // The same in words: who lives in this step and where each comes from; who was dropped.
  _say(tree, t) {
    const recording = this._recording;
    const name = recording.name(this._request);
    const living = tree.step.flatMap((step, i) => (step === t ? [i] : []));
    const gone = tree.step.flatMap((step, i) => (step === t - 1 && tree.dropped[i] ? [recording.name(tree.seq[i])] : []));
    const said = JSON.stringify([name, t, text("page.beams.title", { seq: name })]);
    if (said === this._said) {
      return;
    }
    this._said = said;
    this._title.textContent = text("page.beams.title", { seq: name });
    const items = living.map((i) => {
      const own = recording.name(tree.seq[i]);
      const from = tree.parent[i] < 0 ? own : recording.name(tree.seq[tree.parent[i]]);
      const item = make("li", "", requestChip(own));
      if (from !== own) {
        item.append(" ", text("page.beams.from", { seq: from }));
      }
      return item;
    });
    if (gone.length) {
      items.push(make("li", "beams-gone", text("page.beams.dropped", { names: gone.join(" ") })));
    }
    this._words.replaceChildren(...(items.length ? items : [make("li", "", text("page.beams.none"))]));
  }
}
