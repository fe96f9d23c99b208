// Starts the page: reads the address, opens the figures, wires state to pictures, and starts Python.

import { backend, startBackend } from "./backend.js";
import { scheme } from "./colours.js";
import { Address, readAddress } from "./deep_link.js";
import { openFigures } from "./figure.js";
import { listenToKeys } from "./keyboard.js";
import { dropNotice, redrawNotices, showNotice } from "./notices.js";
import { pageData } from "./page_data.js";
import { PythonState } from "./python_state.js";
import { SettingsForm } from "./settings.js";
import { Dialogs } from "./share.js";
import { SimulateTab } from "./simulate_tab.js";
import { Simulation } from "./simulation.js";
import { createState } from "./state.js";
import { TABS, Tabs } from "./tabs.js";
import { applyTexts, currentLanguage, LANGUAGES, setLanguage, text } from "./text.js";

const address = readAddress();
const wantsChinese = navigator.languages?.[0]?.toLowerCase().startsWith("zh");
const prefersDark = matchMedia("(prefers-color-scheme: dark)").matches;

const state = createState({
  recording: null,
  other: null,
  frame: address.page.t ?? 0,
  pinned: address.page.focus,
  preview: null,
  playing: false,
  dragging: false,
  speed: 4,
  tab: address.page.tab,
  lang: address.page.lang ?? (wantsChinese ? "zh" : LANGUAGES[0]),
  theme: address.page.theme ?? (prefersDark ? "dark" : "light"),
  python: "loading",
  width: 0,
  settings: null,
  experiment: null, // what the address says of the tab Experiments: words by key
  replay: null, // and of the tab Replay
  sizing: null, // and of the tab Sizing
  embed: address.page.embed,
  hide: address.page.hide,
});

function dress({ lang, theme }) {
  const written = document.documentElement.lang; // what the page's words are in already
  setLanguage(lang);
  if (document.documentElement.dataset.theme !== theme) {
    document.documentElement.dataset.theme = theme;
  }
  document.querySelector("[data-language-name]").textContent = lang === "en" ? "中文" : "English";
  document.querySelector("[data-language-name]").lang = lang === "en" ? "zh" : "en";
  if (lang !== written) {
    applyTexts();
  }
  redrawNotices();
}
state.on(["lang", "theme"], dress); // the first to hear of it: what is drawn later uses the new words
const now = () => Object.fromEntries(
  ["recording", "frame", "pinned", "lang", "theme", "tab", "settings", "experiment", "replay", "sizing", "embed", "hide"].map((key) => [key, state.get(key)]),
);
dress(now());
document.documentElement.classList.toggle("embedded", address.page.embed);
for (const part of address.page.hide) {
  document.querySelectorAll(`[data-part="${part}"]`).forEach((element) => element.classList.add("hidden-part"));
}

const form = new SettingsForm(document.getElementById("settings"), (settings) => ask(settings));
const { settings: wanted, corrections } = form.clamp({ mode: pageData.responses[0].settings.mode, ...address.settings });
const words = { mode: wanted.mode, ...address.settings }; // for Python, so that it tells what it corrects
form.write(wanted);

// The address's step may lie beyond the run that is shown until Python has made the one asked for.
let openAt = address.page.t;

const simulation = new Simulation({
  onShow(recording, other, response) {
    const { steps } = state.get("recording") ?? recording;
    const unmoved = openAt !== null && state.get("frame") === Math.min(openAt, steps);
    const frame = unmoved ? openAt : state.get("frame");
    openAt = response ? null : openAt;
    dropNotice("run");
    if (response) {
      dropNotice("address.settings"); // Python has looked at them itself
    }
    response?.notices.forEach((notice, i) => showNotice(`run.${i}`, notice.level, () => notice[currentLanguage()]));
    form.write(recording.settings);
    state.set({
      recording,
      other,
      settings: recording.settings,
      frame: Math.min(frame, recording.steps),
      playing: state.get("playing"),
    });
    drawAvailable();
    if (response) {
      performance.mark("kvscope.answer");
    }
  },
  onOther: (other) => state.set({ other }),
  onMissing() {
    const failed = state.get("python") === "failed";
    const key = failed ? "page.notice.never" : "page.notice.later";
    const shown = state.get("settings"); // null while the figures are being opened
    if (failed && shown) {
      form.write(shown); // the knobs tell what is shown
    }
    showNotice("run", failed ? "info" : "passing", () => text(key));
  },
  onError(sentences) {
    showNotice("run", "error", () => text("page.notice.simulation", { reason: sentences[currentLanguage()] }));
  },
});

function ask(settings) {
  asked = settings;
  simulation.want(settings);
}
let asked = wanted;

function drawAvailable() {
  const settings = state.get("settings") ?? wanted;
  form.setAvailable(state.get("python"), Boolean(simulation.find(settings) && simulation.find(simulation.otherOf(settings))));
}

// Fills the cache for the next visit, once: only when nothing of this one waits for the network any more.
let isKept = false;
function keepForNextVisit() {
  if (!isKept && "serviceWorker" in navigator && pageData.urls["sw.js"]) {
    navigator.serviceWorker.register(pageData.urls["sw.js"]).catch(() => {}); // the page works without it
  }
  isKept = true;
}

const pythonState = new PythonState();
state.on(["lang"], () => pythonState.draw());
function onPython(report) {
  pythonState.draw(report);
  const before = state.get("python");
  state.set({ python: report.state });
  if (report.state === "ready") {
    simulation.ready = true;
    if (!simulation.find(asked)) {
      simulation.want(asked, asked === wanted ? words : asked);
    } else if (corrections.length) {
      backend.request("simulate", { settings: address.settings }).then(({ notices }) => {
        dropNotice("address.settings");
        notices.forEach((notice, i) => showNotice(`address.settings.${i}`, notice.level, () => notice[currentLanguage()]));
      });
    }
  } else if (report.state === "failed" && before !== "failed") {
    showNotice("python", "warning", () => text("page.notice.failed", { reason: report.reason }));
    if (!simulation.find(asked)) {
      simulation.onMissing();
    }
  }
  drawAvailable();
  if (report.state !== "loading") {
    setTimeout(keepForNextVisit, 1000); // after the first answer
  }
}

// The worker loads beside the page; the server's channel is one of the models of Bokeh's document, which comes later.
const early = pageData.transport === "worker";
if (early) {
  startBackend(onPython);
  if (!simulation.find(wanted)) {
    simulation.askAhead(words);
  }
}

const opening = simulation.find(pageData.responses[0].settings);
const first = simulation.find(wanted) ?? simulation.find({ ...opening.settings, mode: wanted.mode });
// An address without a step opens where a request waits though memory is held and empty.
state.set({ frame: address.page.t ?? opening.firstWastefulWait() ?? 0 });
const simulateTab = new SimulateTab(state, {
  onSwitch() {
    const settings = simulation.otherOf(state.get("settings"));
    form.write(settings);
    ask(settings);
  },
});
simulation.want(first.settings);
if (first !== simulation.find(wanted)) {
  form.write(wanted);
  ask(wanted);
}
for (const [place, problems] of Object.entries({ page: address.corrections, settings: corrections })) {
  problems.forEach((problem, i) => {
    showNotice(`address.${place}.${i}`, "warning", () => text("page.notice.corrected", problem));
  });
}

const tabs = new Tabs((tab, linked = null) => state.set({ tab, linked }), { state, given: address.given, showNotice });
const dialogs = new Dialogs(now);
const { transport } = simulateTab;
listenToKeys(
  {
    play: () => transport.toggle(),
    step: (by) => transport.stepBy(by),
    event: (by) => transport.jump(by),
    start: () => transport.seek(0),
    end: () => transport.seek(Infinity),
    speed: (by) => transport.changeSpeed(by),
    tab: (index) => TABS[index] && state.set({ tab: TABS[index] }),
    unpin: () => state.set({ pinned: null, preview: null }),
    help: () => dialogs.openHelp(),
  },
  () => state.get("tab") === "simulate",
);
document.getElementById("language").addEventListener("click", () => {
  state.set({ lang: LANGUAGES[(LANGUAGES.indexOf(state.get("lang")) + 1) % LANGUAGES.length] });
});
document.getElementById("theme").addEventListener("click", () => {
  state.set({ theme: state.get("theme") === "light" ? "dark" : "light" });
});
window.addEventListener("popstate", () => {
  const { tab } = readAddress().page;
  addressBar.takeBack(tab);
  state.set({ tab });
});

const addressBar = new Address();
state.on(["tab"], ({ tab }) => tabs.show(tab));
state.on(["tab", "settings", "frame", "pinned", "experiment", "replay", "sizing", "lang", "theme"], () => addressBar.follow(now()));
await tabs.show(state.get("tab"));
addressBar.takeBack(state.get("tab"));
if (!early) {
  startBackend(onPython);
}
// The first frame is made and on its way to the screen, and whatever is pressed now is answered.
await new Promise((shown) => requestAnimationFrame(() => setTimeout(shown)));
document.documentElement.dataset.playable = "true";
performance.mark("kvscope.playable");

// What playing can do without: BokehJS, which takes over the pool's picture, and the pictures besides it.
try {
  await openFigures("first");
  simulateTab.showPool(state);
  await openFigures("later");
  simulateTab.showWaste(state);
  document.documentElement.dataset.drawn = "true";
} catch (error) {
  const reason = String(error.message ?? error);
  showNotice("figures", "warning", () => text("page.notice.figures", { reason }));
  throw error;
}
