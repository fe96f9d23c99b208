// The tab "sizing". tabs.js calls mount(place, context) once, when the tab is first opened.

import { backend } from "./backend.js";
import { Chart } from "./chart.js";
import { pictureOf } from "./chart_picture.js";
import { scheme } from "./colours.js";
import { save } from "./export.js";
import { Fields } from "./fields.js";
import { make } from "./make.js";
import { csvOf, jsonOf } from "./report_export.js";
import {
  answerWords,
  deploymentWords,
  drawCurve,
  drawMemory,
  drawSides,
  drawSources,
  drawSum,
  figures,
  gigabytes,
  textbookWords,
} from "./sizing_answer.js";
import { SizingBar } from "./sizing_bar.js";
import { layOutCurve } from "./sizing_curve.js";
import { chartsOf, tablesOf } from "./sizing_export.js";
import { tabData } from "./tab_data.js";
import { currentLanguage, text } from "./text.js";

const { response: DEFAULT, terms: TERMS } = tabData.sizing;
const KEYS = Object.keys(DEFAULT.settings);
const NAMES = ["model", "gpu"]; // Python knows more ways to write these than a list can hold

const find = (id) => document.getElementById(id);
const words = (settings) => KEYS.map((key) => `${key}=${settings[key]}`).join("&");

class SizingTab {
  constructor({ state, given, showNotice }) {
    this._state = state;
    this._showNotice = showNotice;
    this._shown = DEFAULT; // the last response that was an answer
    this._refused = null; // the last error, if nothing was answered since
    this._asked = null; // settings, the last that were wanted
    this._wanted = null; // the same until Python is asked for them
    this._asking = false;
    this._form = find("sizing-form");
    this._fields = new Fields(this._form, KEYS);
    this._listen();
    this._open(state.get("linked") ?? (given.tab === "sizing" ? given : {}));
    state.on(["linked"], ({ tab, linked }) => tab === "sizing" && linked && this._open({ ...this._asked, ...linked }));
    state.on(["python"], () => this._onPython());
    state.on(["lang", "theme"], () => this._draw());
    this._onPython();
    this._draw();
  }

  // What the address asks for, or a link on another tab. Numbers out of bounds are corrected and told; a name that the list does not have is
  // left to Python, if that comes.
  _open(given) {
    const { settings, corrections } = this._fields.clamp(given);
    const isName = ({ key }) => NAMES.includes(key);
    this._unnamed = corrections.filter(isName);
    this._tell(corrections.filter((each) => !isName(each)));
    this._fields.write(settings);
    this._want(settings, Object.fromEntries(this._unnamed.map(({ key, value }) => [key, value])));
  }

  _tell(corrections) {
    for (const each of corrections) {
      this._showNotice(`sizing.${each.key}`, "warning", () => text("page.notice.corrected", each));
    }
  }

  _listen() {
    this._form.addEventListener("submit", (event) => event.preventDefault());
    this._form.addEventListener("input", ({ target }) => {
      if (target.type !== "number" || target.validity.valid) {
        this._want(this._fields.read());
      }
    });
    this._form.addEventListener("change", () => this._change({})); // shows what a value out of bounds is taken for
    find("sizing-reset").addEventListener("click", () => this._change(this._fields.clamp({}).settings));
    find("sizing-result").addEventListener("click", ({ target }) => {
      const kind = target.closest("[data-sizing-export]")?.dataset.sizingExport;
      if (kind) {
        this._export(kind);
      }
    });
    const narrow = matchMedia("(max-width: 899px)");
    const fold = () => (find("sizing-settings").open = !narrow.matches);
    narrow.addEventListener("change", fold);
    fold();
  }

  // What stands in the form, `changed` over it.
  _change(changed) {
    const settings = { ...this._fields.read(), ...changed };
    this._fields.write(settings);
    this._want(settings);
  }

  _want(settings, named = {}) {
    const wanted = { ...settings, ...named };
    if (!this._asked || words(wanted) !== words(this._asked)) {
      this._asked = wanted;
      this._wanted = wanted;
      this._state.set({ sizing: wanted });
      this._giveUpWithoutPython();
      this._ask();
    }
  }

  // One request at a time; of settings that changed meanwhile the last ones are asked for.
  async _ask() {
    if (this._asking || this._state.get("python") !== "ready") {
      return;
    }
    this._asking = true;
    try {
      while (this._wanted) {
        const settings = this._wanted;
        this._wanted = null;
        const response = await backend.request("sizing", { settings });
        if (!this._wanted) {
          this._take(response);
        }
      }
    } catch (error) {
      const reason = String(error.message ?? error);
      this._refuse(() => text("tab.error", { reason }));
    } finally {
      this._asking = false;
    }
  }

  _take(response) {
    if (response.error) {
      this._refuse(() => response.error[currentLanguage()], response.error.offers);
      return;
    }
    this._shown = response;
    this._refused = null;
    if (NAMES.some((key) => this._asked[key] !== response.settings[key])) {
      this._fields.write(response.settings);
      this._asked = response.settings;
      this._state.set({ sizing: response.settings });
    }
    this._draw();
    performance.mark("kvscope.sizing");
  }

  // sentence(): why there is no answer; offers: changes that would give one.
  _refuse(sentence, offers = []) {
    this._refused = { sentence, offers };
    this._draw();
  }

  _onPython() {
    const python = this._state.get("python");
    for (const field of this._form.elements) {
      field.disabled = python !== "ready";
    }
    if (python === "ready") {
      this._ask();
    }
    this._giveUpWithoutPython();
    this._drawPython();
  }

  _giveUpWithoutPython() {
    if (this._state.get("python") === "failed" && this._wanted) {
      this._wanted = null;
      this._asked = DEFAULT.settings;
      this._fields.write(DEFAULT.settings); // the fields tell what is shown
      this._tell(this._unnamed);
      this._state.set({ sizing: DEFAULT.settings });
    }
  }

  _drawPython() {
    const python = this._state.get("python");
    const line = find("sizing-python");
    line.hidden = python === "ready";
    line.dataset.python = python;
    line.textContent = python === "ready" ? "" : text(`tab.sizing.${python}`);
  }

  _draw() {
    this._drawPython();
    this._drawProblem();
    const { notices, sources } = this._shown;
    const { sizing: answer, curve } = sources;
    const refused = Boolean(this._refused);
    find("sizing-deployment").textContent = deploymentWords(refused ? { settings: this._asked } : answer);
    find("sizing-answer").textContent = refused ? text("sizing.answer.refused") : answerWords(answer);
    find("sizing-result").hidden = refused;
    find("sizing-notices").replaceChildren(...(refused ? [] : notices.map(noticeBox)));
    if (refused) {
      return;
    }
    const theme = this._state.get("theme");
    find("sizing-figures").replaceChildren(
      ...figures(answer).map(([name, value, label]) => {
        const figure = make("dd", "", value);
        figure.dataset.figure = name;
        return make("div", "counter", make("dt", "", label), figure);
      }),
    );
    drawMemory(find("sizing-memory"), answer, theme);
    drawSum(find("sizing-sum"), answer);
    drawSides(find("sizing-sides"), answer);
    find("sizing-textbook").textContent = textbookWords(answer);
    drawCurve(find("sizing-curve"), curve, answer.settings.ctx);
    drawSources(find("sizing-sources"), answer);
    this._drawFigures(answer, curve, theme);
  }

  _drawProblem() {
    const place = find("sizing-problem");
    place.replaceChildren();
    if (!this._refused) {
      return;
    }
    const { sentence, offers } = this._refused;
    const box = make("div", "notice notice-error", make("p", "", sentence()));
    const buttons = offers.map((offer) => {
      const [[key, value]] = Object.entries(offer);
      const button = make("button", "plain small", text(`tab.sizing.offer.${key}`, { value }));
      button.type = "button";
      button.dataset.offer = `${key}=${value}`;
      button.addEventListener("click", () => {
        this._change(offer);
        this._form.elements[key].focus(); // the button goes with the problem
      });
      return button;
    });
    place.append(box, make("div", "button-row", ...buttons));
  }

  async _openFigures() {
    this._bar = await SizingBar.open(find("sizing-figure"));
    this._curve = await Chart.open(find("sizing-curve-figure"));
  }

  // Words come in the frame after an answer, figures in one after that: they take longer than a frame.
  async _drawFigures(answer, curve, theme) {
    await (this._opened ??= this._openFigures());
    await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
    if (answer === this._shown.sources.sizing && theme === this._state.get("theme")) {
      this._bar.draw(answer.terms, answer.memory, theme);
      const thousands = (n) => text("tab.sizing.thousands", { n });
      this._curve.show(layOutCurve(curve, answer.settings.ctx, scheme(theme), thousands), theme);
    }
  }

  async _export(kind) {
    const { sizing: answer, curve } = this._shown.sources;
    save(await this._exported(kind, answer, curve), `kvscope-sizing.${kind}`);
  }

  async _exported(kind, answer, curve) {
    if (kind === "json") {
      return new Blob([jsonOf({ ...answer, curve })], { type: "application/json" });
    }
    const { settings } = answer;
    if (kind === "csv") {
      const words = (key) => text(key, { ...settings, size: settings.bs });
      return new Blob([csvOf(tablesOf(answer, curve), words, ([key]) => words(key))], { type: "text/csv" });
    }
    const theme = this._state.get("theme");
    await this._drawFigures(answer, curve, theme);
    const colours = scheme(theme);
    const canvases = { bar: this._bar.picture(colours.panel), line: this._curve.picture(colours.panel) };
    const looks = Object.entries(TERMS).map(([name, [role]]) => ({ name, colour: colours[role] }));
    return pictureOf({
      title: `${deploymentWords(answer)} · ${answerWords(answer)}`,
      legend: [],
      charts: chartsOf(answer, canvases, text, looks, gigabytes),
      colours,
      scale: Math.max(2, devicePixelRatio),
    });
  }
}

function noticeBox(notice) {
  return make("div", `notice notice-${notice.level}`, make("p", "", notice[currentLanguage()]));
}

export async function mount(place, context) {
  new SizingTab(context);
}
