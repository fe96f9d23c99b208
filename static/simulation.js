// From settings to a recording: built-in runs at once, others from Python, which is asked one thing at a time; what
// was wanted before something else was is not shown.

import { backend } from "./backend.js";
import { pageData } from "./page_data.js";
import { Recording } from "./recording.js";
import { settingsKey } from "./settings.js";

const PAUSE = 150; // ms without a change, after which the other allocator's run is made: it would keep the next waiting
const KEPT = 12; // runs kept besides the built-in ones

export class Simulation {
  // onShow(recording, other, response): a run is to be shown; `other` is the same load under the other
  // allocator, or null until it is known. onMissing(settings): it must wait for Python. onError(sentences).
  constructor({ onShow, onOther, onMissing, onError }) {
    Object.assign(this, { onShow, onOther, onMissing, onError });
    this._builtIn = new Map();
    this._runs = new Map();
    this._wanted = null;
    this._next = null; // what Python is asked as soon as it has answered
    this._asking = false;
    this._ahead = null;
    this._timer = null;
    this.ready = false;
    for (const response of pageData.responses) {
      this._builtIn.set(settingsKey(response.settings), new Recording(response.sources.recording, response.settings));
    }
  }

  find(settings) {
    const key = settingsKey(settings);
    return this._builtIn.get(key) ?? this._runs.get(key) ?? null;
  }

  otherOf(settings) {
    return { ...settings, mode: settings.mode === "paged" ? "contiguous" : "paged" };
  }

  // Asks for a run while Python is still on its way: so it is made before the page has heard that Python is there.
  // want(…, given) takes the answer.
  askAhead(given) {
    this._ahead = { given, answer: this._ask(given) };
    this._ahead.answer.catch(() => {}); // want() tells
  }

  // Shows the run of `settings` as soon as it can be had. `given` goes to Python in its place (an address's
  // own words, so that Python tells what it corrects).
  want(settings, given = settings) {
    this._wanted = settingsKey(settings);
    this._next = null;
    clearTimeout(this._timer);
    const known = this.find(settings);
    if (known) {
      this._show(known, null);
    } else if (this.ready) {
      this._next = given;
      this._askNext();
    } else {
      this.onMissing(settings);
    }
  }

  _show(recording, response) {
    const { settings } = recording;
    this._wanted = settingsKey(settings);
    this.onShow(recording, this.find(this.otherOf(settings)), response);
    this._timer = setTimeout(() => this._fetchOther(settings), PAUSE);
  }

  async _askNext() {
    while (this._next && !this._asking) {
      const given = this._next;
      this._next = null;
      this._asking = true;
      try {
        await this._fetch(given);
      } finally {
        this._asking = false;
      }
    }
  }

  async _ask(given) {
    const response = await backend.request("simulate", { settings: given });
    if (response.error) {
      return { response, recording: null };
    }
    const recording = new Recording(response.sources.recording, response.settings);
    this._runs.set(settingsKey(response.settings), recording);
    if (this._runs.size > KEPT) {
      this._runs.delete(this._runs.keys().next().value);
    }
    return { response, recording };
  }

  async _fetch(given) {
    const wanted = this._wanted;
    const ahead = this._ahead?.given === given ? this._ahead.answer : null;
    try {
      const { response, recording } = await (ahead ?? this._ask(given));
      if (wanted !== this._wanted) {
        return;
      }
      if (response.error) {
        this.onError(response.error);
      } else {
        this._show(recording, response);
      }
    } catch (error) {
      if (wanted === this._wanted) {
        const reason = String(error.message ?? error);
        this.onError({ en: reason, zh: reason });
      }
    }
  }

  // The same load under the other allocator, for the comparison and for a switch without waiting.
  async _fetchOther(settings) {
    const other = this.otherOf(settings);
    if (!this.ready || this.find(other)) {
      return;
    }
    const wanted = this._wanted;
    try {
      const { recording } = await this._ask(other);
      if (recording && wanted === this._wanted) {
        this.onOther(recording);
      }
    } catch {
      // Only a comparison is missing then; the run itself is on the screen.
    }
  }
}
