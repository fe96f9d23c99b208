// The results that are kept side by side: up to three, of one trace.

import { make } from "./make.js";
import { swatch } from "./replay_charts.js";
import { LOOKS } from "./replay_lines.js";
import { text } from "./text.js";

const same = (one, other) => JSON.stringify(one.settings) === JSON.stringify(other.settings);

export class KeptReplays {
  // place: for the buttons; onChange(): another one is shown, or one was removed.
  constructor(place, onChange) {
    this._place = place;
    this._onChange = onChange;
    this.clear();
  }

  clear() {
    this.all = []; // [{settings, result, hits, notices}, …], the newest last
    this._at = 0;
  }

  // The one that cards and time line are of; undefined while there is none.
  get shown() {
    return this.all[this._at];
  }

  // A result takes the place of one with the same settings, or of the oldest.
  add(run) {
    this.all = [...this.all.filter((each) => !same(each, run)), run].slice(-LOOKS.length);
    this._at = this.all.length - 1;
  }

  _remove(i) {
    this.all.splice(i, 1);
    this._at = Math.min(this._at > i ? this._at - 1 : this._at, this.all.length - 1);
    this._onChange();
    (this._place.querySelector("[aria-pressed=true]") ?? document.getElementById("replay-other")).focus();
  }

  // names: of all, in order.
  draw(names, theme) {
    this._place.hidden = this.all.length < 2;
    const label = make("span", "", text("tab.replay.shown"));
    this._place.replaceChildren(label, ...names.map((name, i) => {
      const show = make("button", "plain small", swatch(i, theme), name);
      show.type = "button";
      show.setAttribute("aria-pressed", String(i === this._at));
      show.addEventListener("click", () => {
        this._at = i;
        this._onChange();
        this._place.querySelectorAll("[aria-pressed]")[i].focus();
      });
      const remove = make("button", "plain small remove", "×");
      remove.type = "button";
      remove.title = text("tab.replay.remove", { name });
      remove.setAttribute("aria-label", remove.title);
      remove.addEventListener("click", () => this._remove(i));
      return make("span", "kept-replay", show, remove);
    }));
  }
}
