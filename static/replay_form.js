// The settings of a replay (static/replay.html); the handler checks them, and tells what it corrected.

import { text } from "./text.js";

const ALL = 10_000_000; // the most that the handler reads

export class ReplayForm {
  // onChange(): a field changed.
  constructor(form, onChange) {
    this._form = form;
    this._defaults = this.read();
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", () => {
      this.draw();
      onChange();
    });
  }

  get _keys() {
    return [...new Set([...this._form.elements].map(({ name }) => name).filter((name) => name && name !== "all"))];
  }

  // Words by key, as they stand; an empty field asks for the default.
  read() {
    const settings = Object.fromEntries(this._keys.map((key) => [key, this._form.elements[key].value]));
    if (this._form.elements.all.checked) {
      settings.limit = String(ALL);
    }
    return Object.fromEntries(Object.entries(settings).filter(([, words]) => words !== ""));
  }

  // Takes words from an address or settings from a response.
  write(given) {
    for (const key of this._keys) {
      if (given[key] === undefined) {
        continue;
      }
      const words = String(given[key]);
      if (key === "limit") {
        this._form.elements.all.checked = words === String(ALL);
        if (words === String(ALL)) {
          continue;
        }
      }
      const field = this._form.elements[key];
      const before = field.value;
      field.value = words;
      if (field.value !== words) {
        field.value = before; // no choice of this name, or no number
      }
    }
    this.draw();
  }

  draw() {
    const { elements } = this._form;
    this._form.dataset.mode = elements.mode.value;
    elements.limit.disabled = elements.all.checked;
    const { model, gpu } = this._form.dataset;
    const [blocks, size] = [Number(elements.blocks.value), Number(elements.bs.value)];
    const fields = { blocks, size, model, gpu, tp: 1, ms: elements.stepms.value };
    document.getElementById("replay-pool-words").textContent = text(`replay.pool.${blocks ? "set" : "fits"}`, fields);
    const clock = Number(elements.stepms.value) ? "replay.step_time" : "replay.step_roofline";
    document.getElementById("replay-step-words").textContent = text(clock, fields);
  }
}

// What a replay's column is called.
export function modeWords({ mode, res, place, cache }) {
  if (mode === "paged" && cache !== "none") {
    return text("tab.replay.mode.cached", { cache: text(`tab.replay.cache.${cache}`) });
  }
  return text(`tab.replay.mode.${mode}`, {
    reservation: text(`tab.replay.reservation.${res}`),
    placement: text(`page.place.${place}`),
  });
}
