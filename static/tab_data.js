// What the tabs Experiments and Replay are told (app/frontend/page.py, tabs), with the texts that only they show.
// Had when the first of them is opened: from the page if that carries it, else from a file beside it.

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
addTexts(tabData.texts);
