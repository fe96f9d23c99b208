// What the page says, in the language of the moment.

import { fill } from "./fill.js";
import { pageData } from "./page_data.js";

export const LANGUAGES = Object.keys(pageData.texts);
let language = LANGUAGES[0];

export function currentLanguage() {
  return language;
}

export function setLanguage(lang) {
  language = LANGUAGES.includes(lang) ? lang : LANGUAGES[0];
  if (document.documentElement.lang !== language) {
    document.documentElement.lang = language; // even the same anew would have the whole page looked through
  }
  document.title = text("page.title");
}

export function text(key, fields = {}) {
  const template = pageData.texts[language][key];
  if (template === undefined) {
    throw new Error(`no text ${key} in ${language}`);
  }
  return fill(template, fields);
}

// Adds texts by language, and writes them where elements have been waiting for them.
export function addTexts(more) {
  for (const lang of LANGUAGES) {
    Object.assign(pageData.texts[lang], more[lang]);
  }
  applyTexts();
}

// Writes the texts that elements below `root` ask for: data-text (content), data-label (accessible name and
// tooltip), data-title (tooltip only).
export function applyTexts(root = document) {
  for (const element of root.querySelectorAll("[data-text]")) {
    const template = pageData.texts[language][element.dataset.text];
    if (template !== undefined && !template.includes("{")) {
      element.textContent = template;
    }
  }
  for (const element of root.querySelectorAll("[data-label]")) {
    element.setAttribute("aria-label", text(element.dataset.label));
    element.title = text(element.dataset.label);
  }
  for (const element of root.querySelectorAll("[data-title]")) {
    element.title = text(element.dataset.title);
  }
}

// Sets what an element says. One that says it already is left alone, and one that says something else keeps its
// node: the less changes in the document, the sooner the next frame is there.
export function say(element, words) {
  const said = element.firstChild;
  if (said?.nodeType !== Node.TEXT_NODE || said.nextSibling) {
    element.textContent = words;
  } else if (said.data !== String(words)) {
    said.data = words;
  }
}

export const percent = (share) => Math.round(100 * share);
