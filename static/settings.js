// The settings form. Bounds and choices stand in its elements, put there from app/backend/settings.py.

import { pageData } from "./page_data.js";
import { text } from "./text.js";

export const SETTING_KEYS = Object.keys(pageData.responses[0].settings);

// Equal settings, equal keys.
export const settingsKey = (settings) => SETTING_KEYS.map((key) => `${key}=${settings[key]}`).join("&");

export class SettingsForm {
  // onChange(settings): the user changed something; the values are inside their bounds.
  constructor(form, onChange) {
    this._form = form;
    this._bs = form.elements.bs;
    this._bsValue = document.getElementById("bs-value");
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", (event) => {
      this._drawDependent();
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
      const { low, high } = this._bounds("seed");
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

  _field(key) {
    const field = this._form.elements[key];
    return field instanceof RadioNodeList ? field[0] : field;
  }

  _bounds(key) {
    const field = this._field(key);
    return { low: Number(field.min), high: Number(field.dataset.high ?? field.max), whole: field.step !== "any" };
  }

  _choices(key) {
    const field = this._form.elements[key];
    if (field instanceof RadioNodeList) {
      return [...field].map((radio) => radio.value);
    }
    return field instanceof HTMLSelectElement ? [...field.options].map((option) => option.value) : null;
  }

  // The nearest allowed settings to what an address gives, and what had to be corrected. The backend checks
  // again; this is for the time before it is there.
  clamp(given) {
    const settings = {};
    const corrections = [];
    for (const key of SETTING_KEYS) {
      const value = given[key];
      const fallback = this._field(key).dataset.default;
      const choices = this._choices(key);
      let used;
      let expected;
      if (choices) {
        used = choices.includes(value) ? value : fallback;
        expected = choices.join(", ");
      } else {
        const { low, high, whole } = this._field(key).type === "checkbox" ? { low: 0, high: 1, whole: true } : this._bounds(key);
        const number = /^\s*[-+]?\d+(\.\d+)?\s*$/.test(value ?? "") ? Number(value) : NaN;
        const fine = Number.isFinite(number) && (!whole || Number.isInteger(number));
        used = fine ? Math.min(high, Math.max(low, number)) : Number(fallback);
        expected = `${low} … ${high}`;
      }
      settings[key] = used;
      if (value !== undefined && value !== null && String(used) !== String(value).trim() && Number(value) !== used) {
        corrections.push({ key, value: String(value).slice(0, 40), used, expected });
      }
    }
    return { settings, corrections };
  }

  // The settings as the form shows them, inside their bounds.
  read() {
    const given = Object.fromEntries(
      SETTING_KEYS.map((key) => {
        const field = this._form.elements[key];
        return [key, field.type === "checkbox" ? String(Number(field.checked)) : field.value];
      }),
    );
    return this.clamp(given).settings;
  }

  write(settings) {
    for (const key of SETTING_KEYS) {
      const field = this._form.elements[key];
      if (field.type === "checkbox") {
        field.checked = Boolean(settings[key]);
      } else {
        if (key === "bs" && settings.bs > Number(field.max)) {
          field.max = field.dataset.high; // an address may ask for more than the slider offers at first
        }
        field.value = settings[key];
      }
    }
    this._drawDependent();
  }

  // What depends on other settings, and on the language.
  _drawDependent() {
    const settings = this.read();
    this._bsValue.textContent = text("page.set.bs.value", { n: settings.bs });
    this._bs.setAttribute("aria-valuetext", this._bsValue.textContent);
    this._form.dataset.mode = settings.mode;
    this._form.elements.blocks.disabled = this._off || Boolean(settings.hold);
    this._form.elements.cpu.disabled = this._off || settings.rec !== "swap";
    document.getElementById("hold-hint").textContent = text("page.set.hold.hint", { tokens: pageData.held_tokens });
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
