// The settings of a replay (static/replay.html); the handler checks them, and tells what it corrected.

import { Fields } from "./fields.js";
import { text } from "./text.js";

const ALL = 10_000_000; // the most that the handler reads
const IN_MEMORY = ["model", "gpu", "tp", "wbits", "kvbits", "util", "bs"]; // settings that the tab Sizing has too
const NAMED = ["mode", "res", "place", "cache"]; // settings that a replay is called by, see modeWords

export class ReplayForm {
  // onChange(): the user changed something.
  constructor(form, onChange) {
    this._form = form;
    this._keys = [...new Set([...form.elements].map(({ name }) => name).filter((name) => name && name !== "all"))];
    this._fields = new Fields(form, this._keys);
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", () => {
      this.draw();
      onChange();
    });
    document.getElementById("replay-reset").addEventListener("click", () => {
      this.write(this._fields.clamp({}).settings);
      onChange();
    });
  }

  // Takes the words of an address; returns what had to be corrected, see Fields.clamp.
  open(given) {
    const { settings, corrections } = this._fields.clamp(given);
    this.write(settings);
    return corrections;
  }

  // Words by key, as they stand; an empty field asks for the default.
  read() {
    const settings = Object.fromEntries(this._keys.map((key) => [key, this._form.elements[key].value]));
    if (this._form.elements.all.checked) {
      settings.limit = String(ALL);
    }
    return Object.fromEntries(Object.entries(settings).filter(([, words]) => words !== ""));
  }

  // Takes some settings or all, each allowed.
  write(settings) {
    for (const key of this._keys.filter((each) => settings[each] !== undefined)) {
      if (key === "limit") {
        this._form.elements.all.checked = Number(settings.limit) === ALL;
        if (this._form.elements.all.checked) {
          continue;
        }
      }
      this._form.elements[key].value = settings[key];
    }
    this.draw();
  }

  focus(key) {
    const field = this._form.elements[key];
    field.closest("details.advanced")?.setAttribute("open", "");
    field.focus();
  }

  // What follows from other settings, and from the language.
  draw() {
    const { elements, dataset } = this._form;
    dataset.mode = elements.mode.value;
    dataset.rec = elements.rec.value;
    elements.limit.disabled = elements.all.checked;
    const [blocks, size, tp] = ["blocks", "bs", "tp"].map((key) => Number(elements[key].value));
    const [model, gpu, ms] = ["model", "gpu", "stepms"].map((key) => elements[key].value);
    const shared = IN_MEMORY.map((key) => [key, elements[key].value]);
    document.getElementById("replay-sizing").search = new URLSearchParams([["v", "1"], ["tab", "sizing"], ...shared]);
    const fields = { blocks, size, model, gpu, tp, ms };
    document.getElementById("replay-pool-words").textContent = text(`replay.pool.${blocks ? "set" : "fits"}`, fields);
    const clock = Number(ms) ? "replay.step_time" : "replay.step_roofline";
    document.getElementById("replay-step-words").textContent = text(clock, fields);
  }

  // A setting as the form would show it: its name and its value.
  _words(key, value) {
    const field = this._form.elements[key];
    const option = field instanceof HTMLSelectElement && [...field.options].find((each) => each.value === String(value));
    const shown = option ? option.textContent : key === "limit" && value === ALL ? text("tab.replay.set.all") : String(value);
    const name = field.closest(".field").querySelector(".field-name").textContent;
    return text("tab.replay.differs", { name, value: shown });
  }

  // What each of these results is called: how memory is managed, and the other settings in which they differ.
  namesOf(kept) {
    const differing = this._keys.filter(
      (key) => !NAMED.includes(key) && new Set(kept.map(({ settings }) => settings[key])).size > 1,
    );
    return kept.map(({ settings, result }) => {
      const parts = [modeWords(settings), ...differing.map((key) => this._words(key, settings[key]))];
      const name = parts.reduce((first, second) => text("tab.replay.and", { first, second }));
      return result.partial ? text("tab.replay.partial", { name }) : name;
    });
  }
}

// How a replay manages its memory.
export function modeWords({ mode, res, place, cache }) {
  if (mode === "paged" && cache !== "none") {
    return text("tab.replay.mode.cached", { cache: text(`tab.replay.cache.${cache}`) });
  }
  return text(`tab.replay.mode.${mode}`, {
    reservation: text(`tab.replay.reservation.${res}`),
    placement: text(`page.place.${place}`),
  });
}
