// The tab "replay". tabs.js calls mount(place, context) once, when the tab is first opened.

import { save } from "./export.js";
import { sizeWords, takeFiles } from "./replay_file.js";
import { csvOf } from "./replay_figures.js";
import { ReplayForm, modeWords } from "./replay_form.js";
import { ReplayHits } from "./replay_hits.js";
import { drawCounters, drawTable } from "./replay_result.js";
import { ReplayTimeline } from "./replay_timeline.js";
import { RunBar } from "./run_bar.js";
import { tabData } from "./tab_data.js";
import { currentLanguage, percent, text } from "./text.js";

const KEPT = 3; // results side by side
const READING = 0.1; // of a job's progress; see app/backend/replay.py

const find = (id) => document.getElementById(id);

class ReplayTab {
  constructor({ state, given }) {
    this._state = state;
    this._file = null;
    this._keepGood = false;
    this._kept = []; // [{settings, result, notices}, …], the newest last
    this._shown = 0;
    this._timeline = null;
    this._hits = new ReplayHits(find("replay-hits"));
    this._form = new ReplayForm(find("replay-form"), () => this._tellAddress());
    this._form.write(given);
    this._bar = new RunBar("replay", state, {
      onRun: () => this._run(),
      words: ({ done, total }) => this._progressWords(total ? done / total : 0),
    });
    this._bar.say(() => text("tab.replay.needs_file"));
    takeFiles(find("replay-drop"), find("replay-file"), (files) => this._take(files));
    find("replay-other").addEventListener("click", () => {
      const { settings } = this._kept.at(-1);
      this._run({ mode: settings.mode === "paged" ? "contiguous" : "paged" });
    });
    find("replay-clear").addEventListener("click", () => {
      this._kept = [this._kept[this._shown]];
      this._shown = 0;
      this._draw();
    });
    find("replay-result").addEventListener("click", ({ target }) => {
      const kind = target.closest("[data-replay-export]")?.dataset.replayExport;
      if (kind) {
        this._export(kind);
      }
    });
    const narrow = matchMedia("(max-width: 899px)");
    const fold = () => (find("replay-settings").open = !narrow.matches);
    narrow.addEventListener("change", fold);
    fold();
    state.on(["lang", "theme"], () => this._draw());
    this._tellAddress();
    this._draw();
  }

  _tellAddress() {
    this._state.set({ replay: this._form.read() });
  }

  _progressWords(share) {
    return share < READING
      ? text("tab.replay.reading", { percent: percent(share / READING) })
      : text("tab.replay.running", { percent: percent((share - READING) / (1 - READING)) });
  }

  _take(files) {
    const [file] = files;
    const limit = tabData.max_file_bytes;
    this._bar.stop();
    if (file.size > limit) {
      const { name, size } = file;
      this._bar.complain(() => text("tab.replay.too_large", { name, size: sizeWords(size), limit: sizeWords(limit) }));
      return;
    }
    this._file = file;
    this._keepGood = false;
    this._kept = [];
    this._shown = 0;
    this._draw();
    this._run();
    if (files.length > 1) {
      this._bar.say(() => text("tab.replay.one_file", { n: files.length }));
    }
  }

  // Replays the file with the form's settings, `changed` over them; the form follows.
  async _run(changed = {}) {
    if (!this._file) {
      this._bar.complain(() => text("tab.replay.needs_file"));
      return;
    }
    this._form.write(changed);
    this._tellAddress();
    const file = this._file;
    const settings = this._form.read();
    this._bar.say(() => text("tab.state.stopped"));
    let response;
    try {
      response = await this._bar.run("replay", async () => ({
        name: file.name,
        data: new Uint8Array(await file.arrayBuffer()),
        settings,
        keep: this._keepGood,
      }));
    } catch (error) {
      const reason = String(error.message ?? error);
      const unreadable = error instanceof DOMException;
      this._bar.say(() => "");
      this._bar.complain(() => (unreadable ? text("tab.replay.unreadable", { name: file.name, reason }) : text("tab.error", { reason })));
      return;
    }
    if (!response || file !== this._file) {
      return;
    }
    if (response.error) {
      this._refuse(response.error);
      return;
    }
    this._keep({ settings: response.settings, result: response.sources.replay, hits: response.sources.hit_rates, notices: response.notices });
    this._bar.say(() => text("tab.replay.done", { n: response.sources.replay.num_requests }));
  }

  _refuse(error) {
    const keep = {
      words: () => text("tab.replay.keep"),
      apply: () => {
        this._keepGood = true;
        this._run();
      },
    };
    this._bar.say(() => "");
    this._bar.complain(() => error[currentLanguage()], error.remedy === "keep_good" ? keep : null);
  }

  _keep(run) {
    const same = ({ settings }) => modeWords(settings) === modeWords(run.settings);
    this._kept = [...this._kept.filter((each) => !same(each)), run].slice(-KEPT);
    this._shown = this._kept.length - 1;
    this._draw();
  }

  async _draw() {
    this._form.draw();
    const title = this._file
      ? text("tab.replay.file", { name: this._file.name, size: sizeWords(this._file.size) })
      : text("tab.replay.no_file");
    find("replay-run-title").textContent = title;
    const run = this._kept[this._shown];
    find("replay-result").hidden = !run;
    if (!run) {
      return;
    }
    this._drawNotices(run.notices);
    this._drawChoice();
    drawCounters(find("replay-counters"), run.result);
    drawTable(find("replay-table"), this._kept);
    const newest = this._kept.at(-1).settings;
    const other = { ...newest, mode: newest.mode === "paged" ? "contiguous" : "paged" };
    find("replay-other").textContent = text("tab.replay.other", { mode: modeWords(other) });
    find("replay-clear").hidden = this._kept.length < 2;
    this._hits.draw(run.hits, this._state.get("theme"));
    this._timeline ??= ReplayTimeline.open(); // a promise: opened once
    const timeline = await this._timeline;
    if (run === this._kept[this._shown]) {
      timeline.draw(run.result, this._state.get("theme"));
    }
  }

  _drawNotices(notices) {
    find("replay-notices").replaceChildren(
      ...notices.map((notice) => {
        const box = document.createElement("p");
        box.className = `notice notice-${notice.level}`;
        box.textContent = notice[currentLanguage()];
        return box;
      }),
    );
  }

  // Which of the kept results the counters and the time line are of.
  _drawChoice() {
    const place = find("replay-shown");
    place.hidden = this._kept.length < 2;
    const label = document.createElement("span");
    label.textContent = text("tab.replay.shown");
    place.replaceChildren(
      label,
      ...this._kept.map(({ settings }, i) => {
        const button = document.createElement("button");
        button.type = "button";
        button.className = "plain small";
        button.textContent = modeWords(settings);
        button.setAttribute("aria-pressed", String(i === this._shown));
        button.addEventListener("click", () => {
          this._shown = i;
          this._draw();
          find("replay-shown").querySelectorAll("button")[i].focus();
        });
        return button;
      }),
    );
  }

  _export(kind) {
    const content =
      kind === "csv"
        ? csvOf(this._kept)
        : JSON.stringify({ version: 1, replays: this._kept.map(({ settings, result, hits }) => ({ settings, result, hit_rates: hits })) });
    save(new Blob([content], { type: kind === "csv" ? "text/csv" : "application/json" }), `kvscope-replay.${kind}`);
  }
}

export async function mount(place, context) {
  new ReplayTab(context);
}
