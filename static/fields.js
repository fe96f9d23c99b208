// The fields of a form as settings. Bounds, choices and defaults stand in its elements, put there from
// app/backend/settings.py.

// The allowed value nearest to what was given, and what had to be corrected: {used, correction: null or {value,
// used, expected}}. rule: {choices} of words, or {low, high, whole} of numbers; and `fallback`, in words.
export function nearest(given, { choices, low, high, whole, fallback }) {
  let used;
  if (choices) {
    used = choices.includes(given) ? given : fallback;
  } else {
    const number = /^\s*[-+]?\d+(\.\d+)?\s*$/.test(given ?? "") ? Number(given) : NaN;
    const fine = Number.isFinite(number) && (!whole || Number.isInteger(number));
    used = fine ? Math.min(high, Math.max(low, number)) : Number(fallback);
  }
  if (given === undefined || given === null || String(used) === String(given).trim() || Number(given) === used) {
    return { used, correction: null };
  }
  const expected = choices ? choices.join(", ") : `${low} … ${high}`;
  return { used, correction: { value: String(given).slice(0, 40), used, expected } };
}

export class Fields {
  // keys: names of the fields, which are those of the settings.
  constructor(form, keys) {
    this._form = form;
    this._keys = keys;
  }

  bounds(key) {
    const field = this._first(key);
    return field.type === "checkbox"
      ? { low: 0, high: 1, whole: true }
      : { low: Number(field.min), high: Number(field.dataset.high ?? field.max), whole: field.step !== "any" };
  }

  _first(key) {
    const field = this._form.elements[key];
    return field instanceof RadioNodeList ? field[0] : field;
  }

  _rule(key) {
    const field = this._form.elements[key];
    const { default: fallback } = this._first(key).dataset;
    if (field instanceof RadioNodeList) {
      return { choices: [...field].map((radio) => radio.value), fallback };
    }
    return field instanceof HTMLSelectElement
      ? { choices: [...field.options].map((option) => option.value), fallback }
      : { ...this.bounds(key), fallback };
  }

  // The nearest allowed settings to what an address gives, and what had to be corrected. The backend checks
  // again; this is for the time before it is there.
  clamp(given) {
    const settings = {};
    const corrections = [];
    for (const key of this._keys) {
      const { used, correction } = nearest(given[key], this._rule(key));
      settings[key] = used;
      if (correction) {
        corrections.push({ key, ...correction });
      }
    }
    return { settings, corrections };
  }

  // The settings as the form shows them, inside their bounds.
  read() {
    const given = Object.fromEntries(
      this._keys.map((key) => {
        const field = this._form.elements[key];
        return [key, field.type === "checkbox" ? String(Number(field.checked)) : field.value];
      }),
    );
    return this.clamp(given).settings;
  }

  write(settings) {
    for (const key of this._keys) {
      const field = this._form.elements[key];
      if (field.type === "checkbox") {
        field.checked = Boolean(settings[key]);
      } else {
        field.value = settings[key];
      }
    }
  }
}
