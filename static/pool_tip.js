// The plate beside the pointer: which block, whose, how full.

import { text } from "./text.js";

export class PoolTip {
  constructor(element) {
    this._element = element;
  }

  show(recording, t, block, event) {
    this.say(block === null ? null : this._words(recording, recording.frame(t), block), event);
  }

  // Says something beside the pointer, or nothing (null).
  say(words, event) {
    this._element.hidden = words === null;
    if (words === null) {
      return;
    }
    this._element.textContent = words;
    const box = this._element.parentElement.getBoundingClientRect();
    const x = Math.min(event.clientX - box.left + 12, box.width - this._element.offsetWidth - 4);
    this._element.style.left = `${Math.max(4, x)}px`;
    this._element.style.top = `${event.clientY - box.top + 18}px`;
  }

  hide() {
    this._element.hidden = true;
  }

  _words(recording, frame, block) {
    const owners = recording.holders(frame, block).map(({ seq }) => recording.name(seq));
    if (owners.length) {
      let real = 0;
      recording.spans(frame, (row, at, low, high, part) => {
        real += at === block && part === "real" ? high - low : 0;
      });
      const times = owners.length > 1 && recording.paged ? ` ×${owners.length}` : "";
      return text("page.tip.owner", { block, owners: owners.join(" ") + times, real, size: recording.blockSize });
    }
    if (frame.cached_blocks.includes(block)) {
      return this._cached(recording, frame.t, block);
    }
    const start = block * recording.blockSize;
    const small = recording.tooSmallHoles(frame).some(([from, to]) => from <= start && start < to);
    return small ? text("page.tip.external", { block, seq: recording.name(frame.head) }) : text("page.tip.free", { block });
  }

  _cached(recording, t, block) {
    const { node, first } = recording.prefixes.nodeOf(block, t, recording.blockSize);
    const last = recording.lastHolder(block, t);
    const user = last ? text("page.tip.last_user", { seq: recording.name(last.seq), step: last.t }) : "";
    const tokens = { first: first + 1, last: first + recording.blockSize };
    return text("page.tip.cached", { block, node: node.id, ...tokens, last_user: user }).trimEnd();
  }
}
