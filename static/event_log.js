// "What just happened", and the log: newest step first, a click jumps there.

import { appendSentence } from "./colours.js";
import { text } from "./text.js";

const MOST_STEPS = 24; // steps with events that the log shows
const MOST_IN_MOTION = 10; // and while steps come too fast to be read, as many as are in sight

export class EventLog {
  constructor(onJump) {
    this._log = document.getElementById("log");
    this._list = document.getElementById("log-steps");
    this._step = document.getElementById("now-step");
    this._sentence = document.getElementById("now-sentence");
    this._groups = new Map();
    this._log.addEventListener("click", (event) => {
      const button = event.target.closest("[data-step]");
      if (button) {
        onJump(Number(button.dataset.step));
      }
    });
  }

  // Another run or language: forget all.
  reset() {
    this._groups.clear();
    this._list.replaceChildren();
  }

  draw(recording, t, lang, quiet) {
    this._log.setAttribute("aria-live", quiet ? "off" : "polite");
    this._step.textContent = text("page.now.step", { step: t });
    this._sentence.replaceChildren();
    const main = recording.mainEvent(t);
    appendSentence(this._sentence, main ? recording.sentence(main.index, lang) : this._nothing(recording, t));

    const shown = [];
    const { event_start: start } = recording.columns.frames;
    for (let at = t; at >= 0 && shown.length < (quiet ? MOST_IN_MOTION : MOST_STEPS); at--) {
      if (start[at + 1] > start[at]) {
        shown.push(this._group(recording, at, lang));
      }
    }
    // A step on puts one group on top: then that is all that changes, and all that is read out.
    const first = this._list.firstElementChild;
    if (shown.length > 1 && shown[1] === first) {
      this._list.prepend(shown[0]);
      while (this._list.children.length > shown.length) {
        this._list.lastElementChild.remove();
      }
    } else if (shown[0] !== first || this._list.children.length !== shown.length) {
      this._list.replaceChildren(...shown);
    }
    for (const group of shown) {
      group.classList.toggle("current", Number(group.dataset.at) === t);
    }
  }

  _nothing(recording, t) {
    if (t === 0) {
      return text("page.now.start");
    }
    const { running } = recording.frame(t);
    return running ? text("page.now.quiet", { n: running }) : text("page.now.idle");
  }

  _group(recording, at, lang) {
    if (!this._groups.has(at)) {
      const group = document.createElement("li");
      group.dataset.at = at;
      const jump = document.createElement("button");
      jump.type = "button";
      jump.className = "jump";
      jump.dataset.step = at;
      jump.textContent = at;
      jump.setAttribute("aria-label", text("page.log.jump", { step: at }));
      const sentences = document.createElement("ul");
      for (const { index, kind, seq, nodes } of recording.events(at)) {
        const line = document.createElement("li");
        line.dataset.kind = kind;
        line.dataset.seq = seq;
        if (nodes.length) {
          line.dataset.nodes = nodes.join(" ");
        }
        appendSentence(line, recording.sentence(index, lang));
        sentences.append(line);
      }
      group.append(jump, sentences);
      this._groups.set(at, group);
    }
    return this._groups.get(at);
  }

  // Dims the lines that are not about the focus.
  light(lit) {
    if (!lit && !this._log.classList.contains("has-focus")) {
      return;
    }
    this._log.classList.toggle("has-focus", Boolean(lit));
    for (const line of this._log.querySelectorAll("[data-seq]")) {
      const named = lit?.node !== undefined && line.dataset.nodes?.split(" ").includes(String(lit.node));
      line.classList.toggle("lit", Boolean(lit) && (named || lit.seqs.has(Number(line.dataset.seq))));
    }
  }
}
