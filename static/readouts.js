// The counters, the pool's title and its state in words.

import { requestName } from "./recording.js";
import { percent, text } from "./text.js";

const MOST_NAMED = 8; // requests named in "can never fit"

export class Readouts {
  constructor() {
    this._figures = new Map(
      [...document.querySelectorAll("[data-counter]")].map((element) => [element.dataset.counter, element]),
    );
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
      this._figures.get(name).textContent = value;
    }
    this._figures.get("waiting").parentElement.classList.toggle("warn", frame.waiting > 0);
    this._title.textContent = text("page.pool.title", { blocks: recording.numBlocks, size: recording.blockSize });
    this._words.textContent = text("page.pool.words", {
      used: frame.used_blocks,
      blocks: recording.numBlocks,
      running: frame.running,
    });
    this._drawState(recording, frame);
  }

  // Empty pool, all waiting, somebody waiting, never fits.
  _drawState(recording, frame) {
    const sentences = [];
    let state = "";
    const who = {
      seq: requestName(frame.head),
      waiting: frame.waiting,
      needed: frame.head_needed,
      free: frame.free,
      largest: frame.largest_free,
    };
    if (frame.waiting > 0) {
      state = frame.running === 0 ? "all_waiting" : "waits";
      // What a step frees at its end can only be handed out in the next one.
      const soon = frame.largest_free >= frame.head_needed;
      sentences.push(text(soon ? "page.pool.waits_fits" : `page.pool.${state}`, who));
    } else if (frame.running === 0) {
      state = "empty";
      sentences.push(text("page.pool.empty"));
    }
    if (frame.rejected > 0) {
      const names = recording.rejectedSeqs.slice(0, frame.rejected).map(requestName);
      const more = names.length > MOST_NAMED ? " …" : "";
      sentences.push(text("page.pool.rejected", { names: names.slice(0, MOST_NAMED).join(" ") + more }));
      state = state || "rejected";
    }
    this._state.textContent = sentences.join(" ");
    this._state.dataset.poolState = state;
  }
}
