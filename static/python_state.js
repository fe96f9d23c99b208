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
        this._stages.set(report.stage, report);
        this._bar.value = [...this._stages.values()].reduce((sum, { done, total }) => sum + done / total, 0) / 2;
      }
      // What is still on its way, not what has just come in.
      const open = ["core", "interpreter"].find((stage) => {
        const { done, total } = this._stages.get(stage) ?? { done: 1, total: 1 };
        return done < total;
      });
      this._words.textContent = open
        ? text(`page.python.${open}`, this._stages.get(open))
        : text("page.python.loading");
    } else if (report.state === "failed") {
      this._words.textContent = text("page.python.failed");
    }
    this._bar.hidden = report.state !== "loading";
  }
}
