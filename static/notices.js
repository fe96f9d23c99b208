// Sentences for the user at the top of the page; each stays until it is dismissed or replaced. What passes by itself
// lies over the page instead: it moves nothing.

import { make } from "./make.js";
import { text } from "./text.js";

const PASSING = "passing"; // level of what nobody needs to dismiss
const shown = new Map();

function draw() {
  const all = [...shown];
  document.getElementById("passing").replaceChildren(
    ...all.filter(([, { level }]) => level === PASSING).map(([id, { words }]) => {
      const sentence = make("p", "", words());
      sentence.dataset.notice = id;
      return sentence;
    }),
  );
  document.getElementById("notices").replaceChildren(
    ...all.filter(([, { level }]) => level !== PASSING).map(([id, { level, words }]) => {
      const notice = document.createElement("div");
      notice.className = `notice notice-${level}`;
      notice.dataset.notice = id;
      const sentence = document.createElement("p");
      sentence.textContent = words();
      const close = document.createElement("button");
      close.type = "button";
      close.className = "plain small";
      close.textContent = text("page.notice.dismiss");
      close.addEventListener("click", () => dropNotice(id));
      notice.append(sentence, close);
      return notice;
    }),
  );
}

// Shows (or replaces) notice `id`; `words()` gives the sentence in the language of the moment.
export function showNotice(id, level, words) {
  shown.set(id, { level, words });
  draw();
}

// Drops the notice `id`, or all whose id starts with it.
export function dropNotice(id) {
  for (const each of [...shown.keys()]) {
    if (each === id || each.startsWith(`${id}.`)) {
      shown.delete(each);
    }
  }
  draw();
}

// After a change of language.
export const redrawNotices = draw;
