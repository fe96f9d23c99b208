// The counters, the pool's title and its state in words.

import { percent, say, text } from "./text.js";

const MOST_NAMED = 8; // requests named in "can never fit"

export class Readouts {
  constructor() {
    this._figures = new Map(
      [...document.querySelectorAll("[data-counter]")].map((element) => [element.dataset.counter, element]),
    );
    const box = document.querySelector("[data-shared]");
    this._shared = { box, label: box.querySelector("dt"), value: box.querySelector("dd") };
    this._cached = document.querySelector("[data-cached-blocks]");
    this._found = document.querySelector("[data-found]");
    this._ofCache = document.querySelectorAll(".stage [data-cache]"); // the form says its cache too
    this._title = document.getElementById("pool-title");
    this._words = document.getElementById("pool-words");
    this._state = document.getElementById("pool-state");
  }

  draw(recording, t) {
    const frame = recording.frame(t);
    const shown = {
      running: frame.running,
      waiting: frame.waiting,
      finished: frame.finished,
      blocks: `${frame.used_blocks}/${recording.numBlocks}`,
      waste_used: `${percent(frame.waste_used)} %`,
      waste_pool: `${percent(frame.waste_pool)} %`,
      preemptions: frame.preemptions,
      rejected: frame.rejected,
    };
    for (const [name, value] of Object.entries(shown)) {
      say(this._figures.get(name), value);
    }
    if (recording.shares) {
      say(this._shared.label, text("page.count.shared", { n: frame.most_holders }));
      say(this._shared.value, text("page.count.shared.value", { n: frame.saved }));
    }
    this._shared.box.toggleAttribute("hidden", !recording.shares);
    const caches = Boolean(recording.prefixes);
    if (caches) {
      say(this._cached, frame.cached / recording.blockSize);
      say(this._found, frame.found);
    }
    for (const element of this._ofCache) {
      if (element.hidden === caches) {
        element.hidden = !caches;
      }
    }
    this._figures.get("waiting").parentElement.classList.toggle("warn", frame.waiting > 0);
    say(this._title, text("page.pool.title", { blocks: recording.numBlocks, size: recording.blockSize }));
    say(
      this._words,
      text("page.pool.words", { used: frame.used_blocks, blocks: recording.numBlocks, running: frame.running }),
    );
    this._drawState(recording, frame);
  }

  // Empty pool, all waiting, somebody waiting, never fits.
  _drawState(recording, frame) {
    const sentences = [];
    let state = "";
    const unit = recording.paged ? recording.blockSize : 1; // paged memory is counted in blocks
    const who = {
      seq: recording.name(frame.head),
      waiting: frame.waiting,
      needed: Math.ceil(frame.head_needed / unit),
      free: frame.free / unit,
      largest: frame.largest_free,
      cached: frame.cached / unit,
    };
    const kind = frame.cached ? "cached" : recording.paged ? "paged" : "contiguous";
    const said = (key) => text(`page.pool.${key}.${kind}`, who);
    if (frame.waiting > 0) {
      state = frame.running === 0 ? "all_waiting" : "waits";
      // What a step frees at its end can only be handed out in the next one.
      const soon = frame.largest_free >= frame.head_needed;
      sentences.push(said(soon ? "waits_fits" : state));
    } else if (frame.running === 0) {
      state = "empty";
      sentences.push(frame.cached ? said("empty") : text("page.pool.empty"));
    }
    if (frame.rejected > 0) {
      const names = recording.rejectedSeqs.slice(0, frame.rejected).map((seq) => recording.name(seq));
      const more = names.length > MOST_NAMED ? " …" : "";
      sentences.push(text("page.pool.rejected", { names: names.slice(0, MOST_NAMED).join(" ") + more }));
      state = state || "rejected";
    }
    say(this._state, sentences.join(" "));
    if (this._state.dataset.poolState !== state) {
      this._state.dataset.poolState = state;
    }
  }
}
