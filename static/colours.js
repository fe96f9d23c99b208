// Colours of requests and of the two schemes; they stand in app/frontend/theme.py.

import { pageData } from "./page_data.js";

const { fill, label } = pageData.requests;
const NAMES = /\b(r\d+(?:\.\d+)?)\b/;
const SECOND_MARKS = [null, [], [2, 3]]; // line dash inside the cell: none, double border, dotted border

const PREFIX = { fill: "#8b95a3", label: "#000000", dash: null, mark: "plain" }; // the operator's, nobody's colour
const looks = new Map(); // by name; asked for in every frame

// Colour, label colour and second mark of a sequence by its name: all sequences of a request look alike, and the
// same in every run of a load, so that one can be found again after a change of allocator.
export function colourOf(name) {
  if (!looks.has(name)) {
    looks.set(name, lookOf(name));
  }
  return looks.get(name);
}

function lookOf(name) {
  const seq = Number.parseInt(name.slice(1), 10);
  if (Number.isNaN(seq)) {
    return PREFIX;
  }
  return {
    fill: fill[seq % fill.length],
    label: label[seq % fill.length],
    dash: SECOND_MARKS[Math.floor(seq / fill.length) % SECOND_MARKS.length],
    mark: ["plain", "double", "dotted"][Math.floor(seq / fill.length) % SECOND_MARKS.length],
  };
}

export const scheme = (theme) => pageData.schemes[theme];
export const THEMES = Object.keys(pageData.schemes);

// A small plate with a request's name in its colour; hovering or clicking it is followed by focus.js.
export function requestChip(name) {
  const chip = document.createElement("span");
  const colour = colourOf(name);
  chip.className = `chip chip-${colour.mark}`;
  chip.style.setProperty("--fill", colour.fill);
  chip.style.setProperty("--label", colour.label);
  chip.dataset.focus = name;
  chip.textContent = name;
  return chip;
}

// Appends a sentence to `element`, the names of requests in it as chips; everything else stays plain text.
export function appendSentence(element, sentence) {
  for (const piece of sentence.split(NAMES)) {
    element.append(/^r\d+(\.\d+)?$/.test(piece) ? requestChip(piece) : piece);
  }
}
