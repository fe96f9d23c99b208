// A slider with a button on each side: steps through a picture.

import { make } from "./make.js";
import { text } from "./text.js";

export class Stepper {
  // onStep(at): a step is to be drawn.
  constructor(onStep) {
    this._onStep = onStep;
    this._back = this._button("‹", -1);
    this._on = this._button("›", 1);
    this._slider = make("input");
    this._slider.type = "range";
    this._slider.step = 1;
    this._slider.addEventListener("input", () => this._go(Number(this._slider.value)));
    this._words = make("output");
    this.element = make("div", "stepper", this._back, this._slider, this._on, this._words);
  }

  get at() {
    return Number(this._slider.value);
  }

  _button(sign, by) {
    const button = make("button", "quiet square framed", sign);
    button.type = "button";
    button.addEventListener("click", () => this._go(this.at + by));
    return button;
  }

  _go(at) {
    this.show(at, Number(this._slider.min), Number(this._slider.max));
  }

  // Goes to a step within bounds and has it drawn.
  show(at, low, high) {
    this._slider.min = low;
    this._slider.max = high;
    this._slider.value = Math.min(high, Math.max(low, at));
    this._back.setAttribute("aria-label", text("tab.step.back"));
    this._on.setAttribute("aria-label", text("tab.step.on"));
    this._slider.setAttribute("aria-label", text("tab.step.slider"));
    // Not disabled at an end: a button that loses its focus sends the keyboard back to the page's start.
    this._back.ariaDisabled = String(this.at <= low);
    this._on.ariaDisabled = String(this.at >= high);
    this._onStep(this.at);
  }

  // What the step is called.
  say(words) {
    this._words.textContent = words;
    this._slider.setAttribute("aria-valuetext", words);
  }
}
