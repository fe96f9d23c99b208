// What the tabs other than the first are made of (app/frontend/page.py, tabs): their HTML and texts, and what
// their scripts are told. Had when one of them is first opened: from the page if that carries it, else from a
// file beside it.

import { pageData } from "./page_data.js";
import { addTexts } from "./text.js";

async function load() {
  const carried = document.getElementById("tab-data");
  if (carried) {
    return JSON.parse(carried.textContent);
  }
  const answer = await fetch(pageData.urls["tabs.json"]);
  if (!answer.ok) {
    throw new Error(`tabs.json: HTTP status ${answer.status}`);
  }
  return answer.json();
}

export const tabData = await load();
for (const [tab, html] of Object.entries(tabData.panels)) {
  document.getElementById(tab).innerHTML = html; // the site's own, see app/frontend/page.py
}
addTexts(tabData.texts);
