// The address is the state: read once, written as things change.

import { THEMES } from "./colours.js";
import { readFocus } from "./focus.js";
import { SETTING_KEYS } from "./settings.js";
import { TABS } from "./tabs.js";
import { LANGUAGES } from "./text.js";

const VERSION = "1";
const WRITE_EVERY = 400; // ms; browsers refuse addresses that change too often

// {settings: words by key for Simulate, given: words by key for another tab,
//  page: {tab, t, focus, lang, theme, embed, hide}, corrections}
export function readAddress(search = location.search) {
  const query = new URLSearchParams(search);
  const corrections = [];
  const one = (key, choices, fallback) => {
    const value = query.get(key);
    if (value === null || choices.includes(value)) {
      return value ?? fallback;
    }
    corrections.push({ key, value: value.slice(0, 40), used: fallback ?? "–", expected: choices.join(", ") });
    return fallback;
  };
  const parts = [...document.querySelectorAll("[data-part]")].map((element) => element.dataset.part);
  const hide = (query.get("hide") ?? "").split(",").filter(Boolean);
  const unknown = hide.filter((part) => !parts.includes(part));
  if (unknown.length) {
    corrections.push({ key: "hide", value: unknown.join(",").slice(0, 40), used: "–", expected: [...new Set(parts)].join(", ") });
  }
  const step = query.get("t");
  if (step !== null && !/^\d{1,6}$/.test(step)) {
    corrections.push({ key: "t", value: step.slice(0, 40), used: 0, expected: "0 …" });
  }
  const focus = query.get("focus");
  if (focus && !readFocus(focus)) {
    corrections.push({ key: "focus", value: focus.slice(0, 40), used: "–", expected: "r5, b12, n3" });
  }
  one("v", [VERSION], VERSION);
  const tab = one("tab", TABS, "simulate");
  return {
    // Settings belong to the tab that the address opens.
    given: tab === "simulate" ? {} : Object.fromEntries(query),
    settings: tab !== "simulate" ? {} : Object.fromEntries(SETTING_KEYS.filter((key) => query.has(key)).map((key) => [key, query.get(key)])),
    page: {
      tab,
      t: step === null ? null : Number.parseInt(step, 10) || 0,
      focus: readFocus(focus),
      lang: one("lang", LANGUAGES, undefined),
      theme: one("theme", THEMES, undefined),
      embed: one("embed", ["0", "1"], "0") === "1",
      hide: hide.filter((part) => parts.includes(part)),
    },
    corrections,
  };
}

// The query for a state: every setting of the tab and every key of the page that is in use.
export function writeQuery({ settings, experiment, replay, sizing, tab, frame, pinned, lang, theme, embed, hide }) {
  const query = new URLSearchParams({ v: VERSION, tab });
  const words = { simulate: settings, experiments: experiment ?? {}, replay: replay ?? {}, sizing: sizing ?? {} }[tab];
  for (const key of tab === "simulate" ? SETTING_KEYS : Object.keys(words)) {
    query.set(key, words[key]);
  }
  if (tab === "simulate") {
    query.set("t", frame);
    if (pinned) {
      query.set("focus", pinned);
    }
  }
  query.set("lang", lang);
  query.set("theme", theme);
  if (embed) {
    query.set("embed", "1");
  }
  if (hide?.length) {
    query.set("hide", hide.join(","));
  }
  return query.toString().replaceAll("%2C", ",");
}

// Keeps the address in step with the state; a change of tab can be taken back with the browser's Back.
export class Address {
  constructor() {
    this._timer = null;
    this._tab = null;
  }

  follow(state) {
    const push = this._tab !== null && this._tab !== state.tab;
    this._tab = state.tab;
    if (push) {
      clearTimeout(this._timer);
      this._timer = null;
      history.pushState(null, "", `?${writeQuery(state)}`);
      return;
    }
    this._latest = state;
    this._timer ??= setTimeout(() => {
      this._timer = null;
      history.replaceState(null, "", `?${writeQuery(this._latest)}`);
    }, WRITE_EVERY);
  }

  // The tab that the address names now, after Back or Forward.
  takeBack(tab) {
    this._tab = tab;
  }
}
