// The form of one experiment: its presets as buttons, its params as fields (static/experiments.html).

// Equal settings, equal words.
export const settingsWords = (settings) => JSON.stringify(Object.entries(settings).sort(([a], [b]) => (a < b ? -1 : 1)));

// The setting that the words of an address stand for; undefined if for none.
export function parseParam(param, words) {
  if (param.kind === "choice") {
    return param.choices.includes(words) ? words : undefined;
  }
  if (param.kind === "bool") {
    return { 0: false, 1: true, false: false, true: true }[words];
  }
  const number = /^[+-]?\d{1,15}$/.test(words) ? Number(words) : NaN;
  return number >= param.minimum && number <= param.maximum ? number : undefined;
}

const expected = ({ kind, choices, minimum, maximum }) =>
  kind === "int" ? `${minimum} … ${maximum}` : (kind === "choice" ? choices : ["0", "1"]).join(", ");

// Settings from the words of an address over a preset's: {settings, corrections}.
export function readParams(declared, given) {
  const corrections = [];
  let preset = declared.presets[0];
  if (given.preset !== undefined) {
    const found = declared.presets.find(({ name }) => name === given.preset);
    if (!found) {
      const names = declared.presets.map(({ name }) => name).join(", ");
      corrections.push({ key: "preset", value: given.preset.slice(0, 40), used: preset.name, expected: names });
    }
    preset = found ?? preset;
  }
  const settings = { ...preset.settings };
  for (const param of declared.params) {
    const words = given[param.name];
    if (words === undefined) {
      continue;
    }
    const value = parseParam(param, words);
    if (value === undefined) {
      const used = String(settings[param.name]);
      corrections.push({ key: param.name, value: words.slice(0, 40), used, expected: expected(param) });
    } else {
      settings[param.name] = value;
    }
  }
  return { settings, corrections };
}

export class ExperimentForm {
  // onChange(settings): a field changed; onPreset(settings): a preset was chosen.
  constructor(declared, { onChange, onPreset }) {
    this._declared = declared;
    this._form = document.querySelector(`[data-experiment-form="${declared.name}"]`);
    this._presets = [...this._form.querySelectorAll("[data-preset]")];
    this._form.addEventListener("submit", (event) => event.preventDefault());
    this._form.addEventListener("input", () => {
      this._drawPresets();
      onChange(this.read());
    });
    for (const button of this._presets) {
      button.addEventListener("click", () => {
        const { settings } = declared.presets.find(({ name }) => name === button.dataset.preset);
        this.write(settings);
        onPreset(settings);
      });
    }
    this.write(declared.presets[0].settings);
  }

  show(visible) {
    this._form.hidden = !visible;
  }

  // As the fields stand: a whole number where one stands, else the words for Python to refuse.
  read() {
    return Object.fromEntries(
      this._declared.params.map((param) => {
        const field = this._form.elements.namedItem(param.name);
        const value = param.kind === "bool" ? field.checked : field.value;
        return [param.name, param.kind === "int" && /^[+-]?\d{1,15}$/.test(value) ? Number(value) : value];
      }),
    );
  }

  write(settings) {
    for (const { name, kind } of this._declared.params) {
      const field = this._form.elements.namedItem(name);
      if (kind === "bool") {
        field.checked = settings[name];
      } else {
        field.value = settings[name];
      }
    }
    this._drawPresets();
  }

  get preset() {
    const words = settingsWords(this.read());
    return this._declared.presets.find(({ settings }) => settingsWords(settings) === words)?.name ?? null;
  }

  // What the address says: the preset if it is one, else every param.
  words() {
    const { name } = this._declared;
    if (this.preset) {
      return { exp: name, preset: this.preset };
    }
    const settings = Object.entries(this.read()).map(([key, value]) => [key, value === true ? 1 : value === false ? 0 : value]);
    return { exp: name, ...Object.fromEntries(settings) };
  }

  _drawPresets() {
    for (const button of this._presets) {
      button.setAttribute("aria-pressed", String(button.dataset.preset === this.preset));
    }
  }
}
