// The tabs of the page. The panels other than Simulate bring their own module, loaded when first opened.

import { text } from "./text.js";

const PANELS = {
  experiments: () => import("./experiments.js"),
  replay: () => import("./replay.js"),
  sizing: () => import("./sizing.js"),
};
export const TABS = ["simulate", ...Object.keys(PANELS)];

export class Tabs {
  // onOpen(tab, linked): the user asks for a tab, by a link perhaps whose words `linked` are; context: what a panel's mount(place, context) is given.
  constructor(onOpen, context) {
    this._buttons = TABS.map((tab) => document.getElementById(`tab-${tab}`));
    this._context = context;
    this._mounted = new Set();
    document.addEventListener("click", (event) => {
      const link = event.target.closest("[data-open-tab]");
      if (link) {
        event.preventDefault();
        onOpen(link.dataset.openTab, Object.fromEntries(new URLSearchParams(link.search)));
      }
    });
    this._buttons.forEach((button, i) => {
      button.addEventListener("click", () => onOpen(TABS[i]));
      button.addEventListener("keydown", (event) => {
        const to = { ArrowRight: i + 1, ArrowLeft: i - 1, Home: 0, End: TABS.length - 1 }[event.key];
        if (to !== undefined) {
          event.preventDefault();
          event.stopPropagation();
          const next = this._buttons[(to + TABS.length) % TABS.length];
          next.focus();
          next.click();
        }
      });
    });
  }

  async show(tab) {
    TABS.forEach((each, i) => {
      const here = each === tab;
      this._buttons[i].setAttribute("aria-selected", String(here));
      this._buttons[i].tabIndex = here ? 0 : -1;
      document.getElementById(`panel-${each}`).hidden = !here;
    });
    document.documentElement.dataset.tab = tab;
    if (PANELS[tab] && !this._mounted.has(tab)) {
      this._mounted.add(tab);
      try {
        const { mount } = await PANELS[tab]();
        await mount(document.getElementById(tab), this._context);
      } catch (error) {
        const reason = String(error.message ?? error);
        this._context.showNotice("tab", "error", () => text("page.notice.tab", { reason }));
        throw error;
      }
    }
  }
}
