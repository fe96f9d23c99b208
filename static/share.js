// The dialogs: help, and share with link, snippet and exports.

import { scheme } from "./colours.js";
import { writeQuery } from "./deep_link.js";
import { exportAs } from "./export.js";
import { text } from "./text.js";

const escapeAttribute = (words) => words.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");

function snippet(address) {
  const title = escapeAttribute(text("page.share.frame_title"));
  const src = escapeAttribute(address);
  return `<iframe src="${src}" title="${title}" width="100%" height="760" style="border:0" loading="lazy"></iframe>`;
}

export class Dialogs {
  // current(): the state of the page.
  constructor(current) {
    this._current = current;
    this._help = document.getElementById("help-dialog");
    this._share = document.getElementById("share-dialog");
    this._said = document.getElementById("copied");
    document.getElementById("help").addEventListener("click", () => this.openHelp());
    document.getElementById("share").addEventListener("click", () => this.openShare());
    for (const dialog of [this._help, this._share]) {
      dialog.addEventListener("click", (event) => {
        if (event.target === dialog || event.target.closest("[data-close]")) {
          dialog.close();
        }
      });
    }
    this._share.addEventListener("click", (event) => {
      const { copy, export: kind } = event.target.closest("button")?.dataset ?? {};
      if (copy) {
        this._copy(document.getElementById(copy));
      } else if (kind) {
        this._export(kind);
      }
    });
  }

  openHelp() {
    this._help.showModal();
  }

  openShare() {
    const here = new URL(location.href);
    here.hash = "";
    here.search = writeQuery(this._current());
    document.getElementById("share-link").value = here.href;
    here.search = writeQuery({ ...this._current(), embed: true });
    document.getElementById("share-embed").value = snippet(here.href);
    this._said.textContent = "";
    this._share.showModal();
  }

  async _copy(field) {
    field.select();
    try {
      await navigator.clipboard.writeText(field.value);
      this._said.textContent = text("page.copied");
    } catch {
      this._said.textContent = text("page.copy_failed");
    }
  }

  async _export(kind) {
    const { recording, frame, theme } = this._current();
    try {
      await exportAs(kind, recording, frame, scheme(theme).panel);
    } catch (error) {
      this._said.textContent = text("page.export.failed", { reason: String(error.message ?? error) });
    }
  }
}
