// The headline: what this very frame shows, with its own numbers.

import { appendSentence } from "./colours.js";
import { percent, text } from "./text.js";

// Text key and fields for frame t of a recording; `other` is the same load under the other allocator, or null.
export function headline(recording, t, other) {
  const frame = recording.frame(t);
  const numbers = { ...frame, capacity: recording.capacity, empty: frame.empty_held, largest: frame.largest_free };
  const rejected = frame.rejected;
  if (frame.waiting > 0 && frame.head >= 0) {
    const who = { ...numbers, seq: recording.name(frame.head), needed: frame.head_needed };
    if (!recording.paged) {
      return frame.free >= frame.head_needed && frame.largest_free < frame.head_needed
        ? ["page.headline.broken_up", who]
        : ["page.headline.wasteful", who];
    }
    if (!other || t > other.steps) {
      return ["page.headline.paged_waiting", { ...who, share: percent(1 - frame.waste_used) }];
    }
  }
  if (t === 0) {
    return ["page.headline.before", {}];
  }
  if (frame.running === 0) {
    if (frame.finished > 0) {
      return ["page.headline.over", { n: frame.finished }];
    }
    return rejected ? ["page.headline.rejected", { n: rejected }] : ["page.headline.idle", {}];
  }
  const then = recording.paged && other && t <= other.steps ? other.frame(t) : null;
  // With a prefix cache fewer run at a time because each is done sooner: then it is what has finished that tells.
  const tells = recording.prefixes && then && frame.finished + then.finished > 0;
  const [key, count] = tells ? ["page.headline.compare_finished", "finished"] : ["page.headline.compare", "running"];
  // Where memory is not tight there is nothing to compare.
  if (then && (then[count] !== frame[count] || percent(then.waste_pool) !== percent(frame.waste_pool))) {
    return [
      key,
      {
        [count]: frame[count],
        other: then[count],
        share: percent(1 - frame.waste_pool),
        other_share: percent(1 - then.waste_pool),
      },
    ];
  }
  return [recording.paged ? "page.headline.paged" : "page.headline.contiguous", numbers];
}

export class Story {
  constructor(onSwitch) {
    this._headline = document.getElementById("headline");
    this._subline = document.getElementById("subline");
    this._switch = document.getElementById("switch-mode");
    this._switch.addEventListener("click", onSwitch);
    this._shown = "";
  }

  draw(recording, t, other) {
    const sentence = text(...headline(recording, t, other));
    if (sentence !== this._shown) {
      this._shown = sentence;
      this._headline.replaceChildren();
      appendSentence(this._headline, sentence);
    }
    const { res } = recording.settings;
    const kind = recording.paged ? "paged" : res === "max" ? "contiguous" : res;
    this._subline.textContent = text(`page.sub.${kind}`);
    this._switch.textContent = text(recording.paged ? "page.switch.contiguous" : "page.switch.paged");
    this._switch.classList.toggle("calm", recording.paged);
  }
}
