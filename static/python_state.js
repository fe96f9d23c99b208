// How far Python is, in words beside the knobs that wait for it.

import { text } from "./text.js";

export class PythonState {
  constructor() {
    this._box = document.getElementById("python-state");
    this._words = document.getElementById("python-words");
    this._bar = document.getElementById("python-progress");
    this._stages = new Map();
    this._report = { state: "loading" };
  }

  draw(report = this._report) {
    this._report = report;
    this._box.dataset.python = report.state;
    this._box.hidden = report.state === "ready";
    if (report.state === "loading") {
      if (report.stage) {
        this._stages.set(report.stage, report.done / report.total);
        this._bar.value = [...this._stages.values()].reduce((a, b) => a + b, 0) / 3;
      }
      // The stage that is still on its way, not the one that has just come in.
      const stage = report.stage && report.done < report.total ? report.stage : null;
      if (stage) {
        this._words.textContent = text(`page.python.${stage}`, report);
      }
    } else if (report.state === "failed") {
      this._words.textContent = text("page.python.failed");
    }
    this._bar.hidden = report.state !== "loading";
  }
}
