// The tab "experiments". tabs.js calls mount(place, context) once, when the tab is first opened.

import { ExperimentForm, readParams, settingsWords } from "./experiment_form.js";
import { needPackages } from "./packages.js";
import { Report } from "./report.js";
import { RunBar } from "./run_bar.js";
import { tabData } from "./tab_data.js";
import { currentLanguage, percent, text } from "./text.js";

class ExperimentsTab {
  constructor(place, { state, given, showNotice }) {
    this._state = state;
    this._results = new Map(); // name and settings → {report, from: "built_in" | "measured"}
    this._shown = new Map(); // name → the result on the screen
    for (const [name, response] of Object.entries(tabData.responses)) {
      const result = { report: response.sources.report, from: "built_in" };
      this._results.set(this._key(name, response.settings), result);
      this._shown.set(name, result); // until there is another
    }
    this._cards = [...place.querySelectorAll("[data-experiment]")];
    this._list = place.querySelector(".experiment-layout nav");
    this._narrow = matchMedia("(max-width: 899px)"); // as in experiments.css
    this._forms = new Map(
      tabData.experiments.map((declared) => [
        declared.name,
        new ExperimentForm(declared, {
          onChange: () => this._onSettings(),
          onPreset: () => this._onSettings() || this._run(),
        }),
      ]),
    );
    this._report = new Report(document.getElementById("experiment-result"));
    this._bar = new RunBar("experiment", state, {
      onRun: () => this._run(),
      words: ({ done, total }) => text("tab.state.running", { percent: percent(total ? done / total : 0) }),
    });
    for (const card of this._cards) {
      card.addEventListener("click", () => {
        this._choose(card.dataset.experiment);
        if (this._narrow.matches) {
          place.querySelector(".experiment").scrollIntoView(); // it stands below the list
        }
      });
    }
    state.on(["lang", "theme"], () => this._draw());
    this._open(given, showNotice);
  }

  _declared(name) {
    return tabData.experiments.find((each) => each.name === name);
  }

  _key(name, settings) {
    return `${name} ${settingsWords(settings)}`;
  }

  // What the address asks for; what it cannot have is told.
  _open(given, showNotice) {
    const names = tabData.experiments.map(({ name }) => name);
    const known = names.includes(given.exp);
    const name = known ? given.exp : names[0];
    const declared = this._declared(name);
    const { settings, corrections } = readParams(declared, known ? given : {});
    if (given.exp !== undefined && !known) {
      corrections.push({ key: "exp", value: given.exp.slice(0, 40), used: name, expected: names.join(", ") });
    }
    corrections.forEach((each, i) =>
      showNotice(`experiment.${i}`, "warning", () => text("page.notice.corrected", each)),
    );
    this._forms.get(name).write(settings);
    this._choose(name);
    this._showInList(known);
    if (!this._results.has(this._key(name, settings))) {
      this._run();
    }
  }

  // Where the list stands above the experiment it is kept short; beside it, the current card is in sight.
  _showInList(asked) {
    const current = this._list.querySelector("[aria-current=true]");
    if (this._narrow.matches) {
      for (const subject of this._list.querySelectorAll(".experiment-subject")) {
        subject.open = !asked && subject.contains(current);
      }
    } else {
      const [card, list] = [current, this._list].map((each) => each.getBoundingClientRect());
      this._list.scrollTop += card.top - list.top - list.height / 3;
    }
  }

  _choose(name) {
    this._bar.stop();
    this._name = name;
    for (const card of this._cards) {
      card.setAttribute("aria-current", String(card.dataset.experiment === name));
    }
    this._forms.forEach((form, each) => form.show(each === name));
    this._bar.complain(null);
    this._onSettings();
  }

  // Shows the result for the settings in the form if there is one; tells whether there is.
  _onSettings() {
    const form = this._forms.get(this._name);
    const found = this._results.get(this._key(this._name, form.read()));
    if (found) {
      this._bar.stop();
      this._shown.set(this._name, found);
    }
    this._bar.complain(null);
    this._state.set({ experiment: form.words() });
    this._draw();
    return Boolean(found);
  }

  async _run() {
    const name = this._name;
    const settings = this._forms.get(name).read();
    this._bar.say(() => text("tab.state.stopped"));
    let response;
    try {
      response = await this._bar.run("experiment", async (report) => {
        await needPackages(this._declared(name).needs, report);
        return { name, settings };
      });
    } catch (error) {
      const reason = String(error.message ?? error);
      this._bar.say(() => "");
      this._bar.complain(error.words ?? (() => text("tab.error", { reason })));
      return;
    }
    if (response?.error) {
      this._bar.say(() => "");
      this._bar.complain(() => response.error[currentLanguage()]);
    } else if (response) {
      const result = { report: response.sources.report, from: "measured" };
      this._results.set(this._key(name, response.settings), result);
      this._shown.set(name, result);
      if (this._name === name) {
        this._draw();
      }
      result.from = "kept";
    }
  }

  _draw() {
    const name = this._name;
    const key = `experiment.${name}`;
    document.getElementById("experiment-title").textContent = text(`${key}.title`);
    document.getElementById("experiment-question").textContent = text(`${key}.question`);
    document.getElementById("experiment-explanation").textContent = text(`${key}.explanation`);
    const shown = this._shown.get(name);
    const form = this._forms.get(name);
    this._report.show(Boolean(shown));
    if (!shown) {
      return; // none is built in, and none has been measured yet
    }
    const stale = settingsWords(shown.report.settings) !== settingsWords(form.read());
    const said = stale ? "changed" : shown.from;
    this._bar.say(() => text(`tab.state.${said}`));
    this._report.draw(shown.report, this._state.get("theme"), stale);
  }
}

export async function mount(place, context) {
  new ExperimentsTab(place, context);
}
