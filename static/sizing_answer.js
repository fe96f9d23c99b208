// An answer of the handler's "sizing" as words and tables: where the memory goes, the sum, textbook and engine.

import { scheme } from "./colours.js";
import { make } from "./make.js";
import { tabData } from "./tab_data.js";
import { text } from "./text.js";

const GIGABYTE = 1e9;
const { terms: TERMS } = tabData.sizing;

const two = new Intl.NumberFormat("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const one = new Intl.NumberFormat("en-US", { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const whole = new Intl.NumberFormat("en-US");

export const gigabytes = (bytes) => two.format(bytes / GIGABYTE);

export function deploymentWords({ settings }) {
  return text("sizing.title", settings);
}

export function answerWords({ users, settings, num_tokens: tokens }) {
  return text(users ? "sizing.answer" : "sizing.answer.none", { users, context: settings.ctx, tokens });
}

// [[name, value, label], …] of what stands behind the answer.
export function figures(answer) {
  const { settings, kv } = answer;
  return [
    ["tokens", whole.format(answer.num_tokens)],
    ["blocks", whole.format(answer.num_blocks)],
    ["token", whole.format(kv.bytes_per_token)],
    ["user", text("tab.sizing.gigabytes", { n: gigabytes(answer.bytes_per_user) })],
  ].map(([name, value]) => [name, value, text(`tab.sizing.figure.${name}`, { size: settings.bs })]);
}

// How a term comes about, with the numbers filled in.
function how(term, { memory, terms, made_of: parts, settings }) {
  const key = term === "context" && parts.communication ? "context_shared" : term;
  const fields = {
    memory: { memory },
    kept: { memory, kept: parts.kept },
    reserve: { memory, kept: terms.kept, util: settings.util },
    weights: { layers: parts.layer_weights, bits: Number(settings.wbits), embeddings: parts.embedding_weights },
    hidden: { ...parts, budget: settings.budget },
    sampler: { ...parts, seqs: settings.seqs },
    context: parts,
    kv_space: {},
  }[term];
  return text(`sizing.how.${key}`, fields);
}

function row(name, small, ...cells) {
  const head = make("th", "", name);
  head.scope = "row";
  if (small) {
    head.append(make("small", "", small));
  }
  return make("tr", "", head, ...cells.map((cell) => make("td", "num", cell)));
}

function headRow(...names) {
  const cells = names.map((name, i) => make("th", i ? "num" : "", name));
  cells.forEach((cell) => (cell.scope = "col"));
  return make("thead", "", make("tr", "", ...cells));
}

export function drawMemory(table, answer, theme) {
  const colours = scheme(theme);
  const { memory, terms } = answer;
  const share = (bytes) => text("tab.sizing.percent", { n: one.format((100 * bytes) / memory) });
  const rows = Object.entries(TERMS).map(([name, [role, part]]) => {
    const swatch = make("i", `key key-${part}`);
    swatch.style.setProperty("--key", colours[role]);
    swatch.ariaHidden = "true";
    const term = make("span", "sizing-term", swatch, text(`sizing.term.${name}`));
    const sign = name === "kv_space" ? "=" : "−";
    const line = row(term, how(name, answer), `${sign} ${gigabytes(terms[name])}`, share(terms[name]));
    line.dataset.term = name;
    return line;
  });
  const whole = row(text("sizing.term.memory"), how("memory", answer), gigabytes(memory), "");
  table.replaceChildren(
    headRow(...["term", "size", "share"].map((name) => text(`tab.sizing.column.${name}`))),
    make("tbody", "", whole, ...rows),
  );
}

// The lines from bytes to users.
export function drawSum(list, { settings, terms, kv, ...answer }) {
  const sentences = [text(`sizing.token.${kv.heads ? "heads" : "latent"}`, kv)];
  if (kv.window) {
    sentences.push(text("sizing.window", kv));
  }
  const blocks = { space: terms.kv_space, size: settings.bs, each: kv.bytes_per_token };
  sentences.push(
    text("sizing.blocks", { ...blocks, blocks: answer.num_blocks, tokens: answer.num_tokens }),
    text("sizing.users", { users: answer.users, context: settings.ctx, each: answer.bytes_per_user }),
  );
  list.replaceChildren(...sentences.map((sentence) => make("li", "", sentence)));
}

export function drawSides(table, answer) {
  const sides = ["engine", "textbook"].map((name) => text(`tab.sizing.sides.${name}`));
  const rows = [
    ["blocks", answer.num_blocks, answer.textbook_blocks],
    ["users", answer.users, answer.textbook_users],
  ];
  table.replaceChildren(
    headRow("", ...sides),
    make("tbody", "", ...rows.map(([name, ...cells]) => row(text(`tab.sizing.sides.${name}`), "", ...cells.map(whole.format)))),
  );
}

export function textbookWords({ num_blocks: blocks, textbook_blocks: textbook }) {
  return text("sizing.textbook", { blocks: textbook, more: Math.round(100 * (textbook / blocks - 1)) });
}

export function drawCurve(table, { context, users, bytes }, chosen) {
  const rows = context.map((length, i) => {
    const line = row(whole.format(length), "", whole.format(users[i]), gigabytes(bytes[i]));
    line.classList.toggle("chosen", length === chosen);
    return line;
  });
  table.replaceChildren(
    headRow(...["context", "users", "bytes"].map((name) => text(`tab.sizing.column.${name}`))),
    make("tbody", "", ...rows),
  );
}

export function drawSources(list, { sources }) {
  const said = Object.entries(sources).map(([kind, source]) => text(`sizing.source.${kind}`, { source }));
  list.replaceChildren(...said.map((sentence) => make("li", "", sentence)));
}
