// Run, Stop, progress and what is said about them; drives one job of the backend at a time.

import { KEEP, backend } from "./backend.js";
import { text } from "./text.js";

const share = ({ done, total }) => (total ? done / total : 0);

export class RunBar {
  // id: of the template's run_bar; onRun(): the user presses Run; state: the page's.
  // words(progress): the sentence for {done, total} of a job on its way.
  constructor(id, state, { onRun, words }) {
    const bar = document.getElementById(`${id}-run`);
    this._run = bar.querySelector("[data-run]");
    this._stop = bar.querySelector("[data-stop]");
    this._bar = bar.querySelector("progress");
    this._said = bar.querySelector("[data-said]");
    this._problem = bar.parentElement.querySelector("[data-problem]");
    this._state = state;
    this._words = words;
    this._sentence = () => "";
    this._trouble = null;
    this._job = null;
    this._waiting = []; // {resolve, reject} of runs that wait for Python
    this._run.addEventListener("click", onRun);
    this._stop.addEventListener("click", () => this.stop(this._job?.keeps ? KEEP : undefined));
    state.on(["lang", "python"], () => this.draw());
    state.on(["python"], () => this._settle());
  }

  get running() {
    return this._job !== null;
  }

  // What is said while nothing runs: a function, so that it is said again in another language.
  say(sentence) {
    this._sentence = sentence;
    this.draw();
  }

  // Shows a problem in place of what a run would have found. `remedies`: [{words(), apply()}, …].
  complain(words, remedies = []) {
    this._trouble = words && { words, remedies };
    this._drawProblem();
  }

  draw() {
    const failed = this._state.get("python") === "failed";
    this._run.hidden = this.running;
    this._run.disabled = failed;
    this._stop.hidden = !this.running;
    this._bar.hidden = !this.running;
    this._said.textContent = this.running ? this._progressWords() : failed ? text("tab.state.failed") : this._sentence();
    this._drawProblem();
  }

  _progressWords() {
    const { progress, words, abort } = this._job;
    if (abort.signal.aborted) {
      return text("tab.state.stopping");
    }
    if (progress) {
      return (words ?? this._words)(progress);
    }
    return text(this._state.get("python") === "ready" ? "tab.state.queued" : "tab.state.loading");
  }

  _drawProblem() {
    const { _problem: place, _trouble: trouble } = this;
    place.replaceChildren();
    if (!trouble) {
      return;
    }
    const notice = document.createElement("div");
    notice.className = "notice notice-error";
    const sentence = document.createElement("p");
    sentence.textContent = trouble.words();
    notice.append(sentence);
    for (const { words, apply } of trouble.remedies) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "plain small";
      button.textContent = words();
      button.addEventListener("click", apply);
      notice.append(button);
    }
    place.append(notice);
  }

  // Resolves once requests can be sent.
  _python() {
    return new Promise((resolve, reject) => {
      this._waiting.push({ resolve, reject });
      this._settle();
    });
  }

  _settle() {
    const state = this._state.get("python");
    if (state !== "loading") {
      const waiting = this._waiting.splice(0);
      waiting.forEach(({ resolve, reject }) =>
        state === "ready" ? resolve() : reject(new Error(text("page.python.failed"))),
      );
    }
  }

  // reason: KEEP, if what has been measured so far is wanted.
  stop(reason) {
    this._job?.abort.abort(reason);
    if (this._job && reason === KEEP) {
      this._said.textContent = this._progressWords();
    }
  }

  // Runs a job to its end; payload(report) may fetch what it needs, and report({done, total}, words) how far that
  // is. Resolves with the response, with null if it was stopped; rejects with an Error if Python is gone.
  // keeps: the user's Stop resolves with what was measured by then, see backend.js.
  async run(kind, payload, { keeps = false } = {}) {
    this.stop();
    const job = { abort: new AbortController(), progress: null, keeps: false };
    const hadFocus = document.activeElement === this._run;
    this._job = job;
    this.complain(null);
    this._bar.removeAttribute("value");
    this.draw();
    if (hadFocus) {
      this._stop.focus();
    }
    const { signal } = job.abort;
    const stopped = new Promise((_, reject) => {
      signal.addEventListener("abort", () => signal.reason === KEEP || reject(signal.reason));
    });
    try {
      await Promise.race([this._python(), stopped]);
      const report = (progress, words) => {
        if (this._job === job) {
          Object.assign(job, { progress, words });
          this._bar.value = share(progress);
          this._said.textContent = this._progressWords();
        }
      };
      const asked = await Promise.race([payload(report), stopped]);
      job.keeps = keeps; // from here on there may be something to keep
      const answered = backend.request(kind, asked, {
        signal,
        onProgress: ({ progress }) => report(progress),
      });
      answered.catch(() => {}); // once stopped, nobody waits for it
      return await Promise.race([answered, stopped]);
    } catch (error) {
      if (error.name === "AbortError") {
        return null;
      }
      throw error;
    } finally {
      if (this._job === job) {
        const stopHadFocus = document.activeElement === this._stop;
        this._job = null;
        this.draw();
        if (stopHadFocus) {
          this._run.focus();
        }
      }
    }
  }
}
