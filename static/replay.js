// The tab "replay". tabs.js calls mount(place, context) once, when the tab is first opened.

import { scheme } from "./colours.js";
import { save } from "./export.js";
import { ReplayCharts } from "./replay_charts.js";
import { sizeWords, takeFiles } from "./replay_file.js";
import { csvOf } from "./replay_figures.js";
import { ReplayForm, modeWords } from "./replay_form.js";
import { ReplayHits } from "./replay_hits.js";
import { KeptReplays } from "./replay_kept.js";
import { LOOKS } from "./replay_lines.js";
import { pictureOf } from "./chart_picture.js";
import { drawCounters, drawTable } from "./replay_result.js";
import { drawLatencyTable, drawTimeTable } from "./replay_tables.js";
import { ReplayTimeline } from "./replay_timeline.js";
import { RunBar } from "./run_bar.js";
import { tabData } from "./tab_data.js";
import { currentLanguage, percent, text } from "./text.js";

const READING = 0.1; // of a job's progress; see app/backend/replay.py

const find = (id) => document.getElementById(id);

class ReplayTab {
  constructor({ state, given, showNotice }) {
    this._state = state;
    this._source = null; // {file} or {load}: what is replayed
    this._keepGood = false;
    this._turn = 0; // counts runs: an answer to one before the last is not wanted
    this._kept = new KeptReplays(find("replay-shown"), () => this._draw());
    this._timeline = null;
    this._charts = new ReplayCharts();
    this._hits = new ReplayHits(find("replay-hits"));
    this._form = new ReplayForm(find("replay-form"), () => this._tellAddress());
    this._bar = new RunBar("replay", state, {
      onRun: () => this._run(),
      words: ({ done, total }) => this._progressWords(total ? done / total : 0),
    });
    this._bar.say(() => text("tab.replay.needs_file"));
    takeFiles(find("replay-drop"), find("replay-file"), (files) => this._takeFile(files));
    this._loads = [...find("replay-drop").querySelectorAll("[data-load]")];
    this._loads.forEach((button) => button.addEventListener("click", () => this._take({ load: button.dataset.load })));
    find("replay-other").addEventListener("click", () => this._run({ mode: this._otherMode() }));
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
    this._open(given, showNotice);
  }

  // What the address asks for; what it cannot have is told. A load that comes along is replayed at once.
  _open(given, showNotice) {
    const corrections = this._form.open(given);
    const loads = this._loads.map(({ dataset }) => dataset.load);
    if (given.load !== undefined && !loads.includes(given.load)) {
      const value = given.load.slice(0, 40);
      corrections.push({ key: "load", value, used: "–", expected: loads.join(", ") });
    }
    corrections.forEach((correction, i) => {
      showNotice(`address.replay.${i}`, "warning", () => text("page.notice.corrected", correction));
    });
    if (loads.includes(given.load)) {
      this._take({ load: given.load });
    } else {
      this._tellAddress();
      this._draw();
    }
  }

  // A user's file never goes into the address.
  _tellAddress() {
    const load = this._source?.load;
    this._state.set({ replay: { ...(load ? { load } : {}), ...this._form.read() } });
  }

  _progressWords(share) {
    return share < READING
      ? text("tab.replay.reading", { percent: percent(share / READING) })
      : text("tab.replay.running", { percent: percent((share - READING) / (1 - READING)) });
  }

  _takeFile(files) {
    const [file] = files;
    const limit = tabData.max_file_bytes;
    if (file.size > limit) {
      const { name, size } = file;
      this._bar.stop();
      this._bar.complain(() => text("tab.replay.too_large", { name, size: sizeWords(size), limit: sizeWords(limit) }));
      return;
    }
    this._take({ file });
    if (files.length > 1) {
      this._bar.say(() => text("tab.replay.one_file", { n: files.length }));
    }
  }

  _take(source) {
    this._bar.stop();
    this._source = source;
    this._keepGood = false;
    this._kept.clear();
    this._draw();
    this._run();
  }

  // What is sent beside the settings.
  async _payload() {
    const { file, load } = this._source;
    return file ? { name: file.name, data: new Uint8Array(await file.arrayBuffer()), keep: this._keepGood } : { load };
  }

  // Replays with the form's settings, `changed` over them; the form follows.
  async _run(changed = {}) {
    if (!this._source) {
      this._bar.complain(() => text("tab.replay.needs_file"));
      return;
    }
    this._form.write(changed);
    this._tellAddress();
    this._turn += 1;
    const turn = this._turn;
    const settings = this._form.read();
    this._bar.say(() => text("tab.state.stopped"));
    let response;
    try {
      response = await this._bar.run("replay", async () => ({ ...(await this._payload()), settings }), { keeps: true });
    } catch (error) {
      const reason = String(error.message ?? error);
      const name = error instanceof DOMException ? this._source.file?.name : null;
      this._bar.say(() => "");
      this._bar.complain(() => (name ? text("tab.replay.unreadable", { name, reason }) : text("tab.error", { reason })));
      return;
    }
    if (!response || turn !== this._turn) {
      return;
    }
    if (response.error) {
      this._refuse(response.error);
    } else if (response.sources.replay) {
      this._keep(response, settings);
    }
  }

  _refuse(error) {
    const good = {
      words: () => text("tab.replay.keep"),
      apply: () => {
        this._keepGood = true;
        this._run();
      },
    };
    const offers = (error.offers ?? []).map((offer) => {
      const [[key, value]] = Object.entries(offer);
      return {
        words: () => text(`tab.sizing.offer.${key}`, { value }),
        apply: () => {
          this._form.focus(key); // the button goes with the problem
          this._run(offer);
        },
      };
    });
    this._bar.say(() => "");
    this._bar.complain(() => error[currentLanguage()], error.remedy === "keep_good" ? [good] : offers);
  }

  _keep({ settings, sources, notices }, asked) {
    const { replay: result, hit_rates: hits } = sources;
    this._kept.add({ settings, result, hits, notices });
    if (JSON.stringify(asked) === JSON.stringify(this._form.read())) {
      this._form.write(settings); // what was corrected, unless the user has gone on
      this._tellAddress();
    }
    const { num_requests: total, num_finished: finished, num_rejected: rejected, partial } = result;
    this._bar.say(() => text(partial ? "tab.replay.stopped" : "tab.replay.done", { n: finished + rejected, total }));
    this._draw();
  }

  _otherMode() {
    return this._kept.all.at(-1).settings.mode === "paged" ? "contiguous" : "paged";
  }

  _sourceWords() {
    const { file, load } = this._source ?? {};
    return file
      ? text("tab.replay.file", { name: file.name, size: sizeWords(file.size) })
      : text(load ? `tab.replay.load.${load}` : "tab.replay.no_file");
  }

  async _draw() {
    this._form.draw();
    find("replay-run-title").textContent = this._sourceWords();
    this._loads.forEach((button) => button.setAttribute("aria-pressed", String(button.dataset.load === this._source?.load)));
    const run = this._kept.shown;
    find("replay-result").hidden = !run;
    if (!run) {
      return;
    }
    const theme = this._state.get("theme");
    const names = this._form.namesOf(this._kept.all);
    const kept = this._kept.all.map((each, i) => ({ ...each, name: names[i] }));
    this._drawNotices(run.notices);
    this._kept.draw(names, theme);
    drawCounters(find("replay-counters"), run);
    drawTable(find("replay-table"), kept);
    drawTimeTable(find("replay-time-table"), run.result);
    drawLatencyTable(find("replay-latency-table"), kept);
    const pool = names[this._kept.all.indexOf(run)];
    find("replay-pool-title").textContent = text("tab.replay.pool", { name: pool });
    const other = { ...this._kept.all.at(-1).settings, mode: this._otherMode(), cache: "none" };
    find("replay-other").textContent = text("tab.replay.other", { mode: modeWords(other) });
    this._hits.draw(run.hits, theme);
    this._timeline ??= ReplayTimeline.open(find("replay-pool-figure")); // a promise: opened once
    const timeline = await this._timeline;
    if (run === this._kept.shown) {
      timeline.draw(run.result, theme);
    }
    await this._charts.draw(kept, theme);
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

  async _export(kind) {
    save(await this._exported(kind), `kvscope-replay.${kind}`);
  }

  async _exported(kind) {
    const { all } = this._kept;
    if (kind === "csv") {
      return new Blob([csvOf(all)], { type: "text/csv" });
    }
    if (kind === "json") {
      const replays = all.map(({ settings, result, hits }) => ({ settings, result, hit_rates: hits }));
      return new Blob([JSON.stringify({ version: 1, replays })], { type: "application/json" });
    }
    const colours = scheme(this._state.get("theme"));
    const pool = {
      title: find("replay-pool-title").textContent,
      axes: [text("tab.replay.axis.share"), find("replay-time-unit").textContent],
      canvas: (await this._timeline).picture(colours.panel),
      wide: true,
    };
    return pictureOf({
      title: this._sourceWords(),
      legend: this._form.namesOf(all).map((name, i) => ({ name, colour: colours[LOOKS[i][0]], dash: LOOKS[i][1] })),
      charts: [pool, ...this._charts.pictures(colours.panel)],
      colours,
      scale: Math.max(2, devicePixelRatio),
    });
  }
}

export async function mount(place, context) {
  new ReplayTab(context);
}
