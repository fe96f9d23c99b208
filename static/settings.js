// The settings form of the tab Simulate.

import { Fields } from "./fields.js";
import { pageData } from "./page_data.js";
import { text } from "./text.js";

export const SETTING_KEYS = Object.keys(pageData.responses[0].settings);

// Equal settings, equal keys.
export const settingsKey = (settings) => SETTING_KEYS.map((key) => `${key}=${settings[key]}`).join("&");

export class SettingsForm {
  // onChange(settings): the user changed something; the values are inside their bounds.
  constructor(form, onChange) {
    this._form = form;
    this._fields = new Fields(form, SETTING_KEYS);
    this._bs = form.elements.bs;
    this._bsValue = document.getElementById("bs-value");
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", (event) => {
      this._drawDependent();
      this._agree();
      if (event.target.type !== "number" || event.target.validity.valid) {
        onChange(this.read());
      }
    });
    form.addEventListener("change", (event) => {
      if (event.target.type === "number") {
        this.write(this.read()); // show what a value out of bounds was taken for
        onChange(this.read());
      }
    });
    document.getElementById("next-seed").addEventListener("click", () => {
      const { low, high } = this._fields.bounds("seed");
      const span = high - low + 1;
      this._form.elements.seed.value = low + ((this.read().seed - low + 1 + Math.floor(Math.random() * (span - 1))) % span);
      onChange(this.read());
    });
    document.getElementById("reset-settings").addEventListener("click", () => {
      const { mode } = this.read();
      this.write({ ...this.clamp({}).settings, mode });
      onChange(this.read());
    });
  }

  // See Fields.clamp.
  clamp(given) {
    return this._fields.clamp(given);
  }

  read() {
    return this._fields.read();
  }

  write(settings) {
    if (settings.bs > Number(this._bs.max)) {
      this._bs.max = this._bs.dataset.high; // an address may ask for more than the slider offers at first
    }
    this._fields.write(settings);
    this._drawDependent();
  }

  // What depends on other settings, and on the language.
  _drawDependent() {
    const settings = this.read();
    this._bsValue.textContent = text("page.set.bs.value", { n: settings.bs });
    this._bs.setAttribute("aria-valuetext", this._bsValue.textContent);
    this._form.dataset.mode = settings.mode;
    this._form.elements.blocks.disabled = this._off || Boolean(settings.hold);
    this._form.dataset.cache = settings.cache;
    this._offer(settings);
    const rules = pageData.combinations.rules[settings.mode === "paged" ? settings.rules : "classic"];
    this._form.elements.rec.disabled = this._off || !rules.recovery;
    this._form.elements.cpu.disabled = this._off || !(rules.swaps || (rules.recovery && settings.rec === "swap"));
    this._form.elements.budget.disabled = this._off || !rules.budget;
    document.getElementById("hold-hint").textContent = text("page.set.hold.hint", { tokens: pageData.held_tokens });
  }

  // What goes with the mode, the engine rules and the cache that are chosen: values by key, the others are off.
  _allowed({ mode, rules, cache }) {
    const { rules: all, blind, seeing } = pageData.combinations;
    const queues = [...blind, ...seeing[cache]];
    return mode === "paged" ? { cache: all[rules].caches, queue: all[rules].queues.filter((each) => queues.includes(each)) } : {};
  }

  _offer(settings) {
    for (const [key, allowed] of Object.entries(this._allowed(settings))) {
      for (const option of this._form.elements[key].options) {
        option.disabled = !allowed.includes(option.value);
      }
    }
  }

  // Lets what does not go with the user's choice give way: a cache to the other one, an order to the first.
  _agree() {
    for (const key of ["cache", "queue"]) {
      const settings = this.read();
      const allowed = this._allowed(settings)[key];
      if (allowed && !allowed.includes(settings[key])) {
        this._form.elements[key].value = key === "cache" ? allowed.at(-1) : allowed[0];
      }
    }
    this._drawDependent();
  }

  // Before Python is there only the allocator can be changed, and only while both its runs are in the page.
  setAvailable(python, bothModes) {
    this._off = python !== "ready";
    for (const field of this._form.elements) {
      field.disabled = this._off && !(field.name === "mode" && bothModes) && field.type !== undefined && field.tagName !== "FIELDSET";
    }
    this._form.classList.toggle("off", this._off);
    this._drawDependent();
  }
}
