// The picture "tree" of the experiment beam_search: the beams step by step, the pool, and the block table of each.

import { withDropped } from "./beam_layout.js";
import { BeamTree } from "./beam_tree.js";
import { make } from "./make.js";
import { Stepper } from "./stepper.js";
import { text } from "./text.js";

const GRID = 1024; // scores are log-probabilities in steps of 1 / GRID, see pycore/attention/sampling.py

export class BeamPicture {
  constructor(place) {
    this._title = make("h3");
    this._stepper = new Stepper((at) => this._drawStep(at));
    this._figure = make("div", "figure beam-figure");
    this._figure.setAttribute("role", "img");
    this._poolWords = make("p", "axis-words");
    this._pool = make("div", "memory-strip");
    this._pool.ariaHidden = "true"; // the table below says the same
    this._sentence = make("p", "picture-sentence");
    this._sentence.setAttribute("aria-live", "polite");
    this._head = make("thead");
    this._body = make("tbody");
    const scroll = make("div", "scroll", make("table", "report-table", this._head, this._body));
    scroll.tabIndex = 0;
    scroll.setAttribute("role", "region");
    this._scroll = scroll;
    this.element = make(
      "section", "card picture", this._title, this._stepper.element, this._figure, this._poolWords, this._pool,
      this._sentence, scroll,
    );
    this.element.dataset.picture = "tree";
    place.append(this.element);
  }

  async draw(tree, theme) {
    this._theme = theme;
    this._title.textContent = text("tab.beams.title");
    this._figure.setAttribute("aria-label", text("tab.beams.figure"));
    this._tree ??= await BeamTree.open(this._figure);
    this._scroll.setAttribute("aria-label", text("tab.beams.tables"));
    this._poolWords.textContent = text("tab.beams.pool");
    this._head.replaceChildren(
      make("tr", "", ...["beam", "token", "score", "blocks"].map((key) => {
        const cell = make("th", key === "score" ? "num" : "", text(`tab.beams.${key}`));
        cell.scope = "col";
        return cell;
      })),
    );
    const last = Math.max(...tree.step);
    const first = this._of !== tree;
    if (first) {
      this._of = tree;
      this._columns = withDropped(tree);
      this._cells = Array.from({ length: Math.ceil((Math.max(...tree.blocks.flat()) + 1) / 16) * 16 }, () => make("i"));
      this._pool.replaceChildren(...this._cells);
    }
    this._stepper.show(first ? Math.ceil(last / 2) : this._stepper.at, 0, last);
  }

  _drawStep(at) {
    const { step, token, score, blocks, dropped } = this._columns;
    this._stepper.say(text("tab.beams.value", { at, all: Number(Math.max(...step)) }));
    this._tree.draw(this._columns, at, this._theme);
    const living = step.flatMap((each, i) => (each === at ? [i] : []));
    const holders = new Map();
    for (const block of living.flatMap((i) => blocks[i])) {
      holders.set(block, (holders.get(block) ?? 0) + 1);
    }
    this._cells.forEach((cell, block) => {
      const count = holders.get(block) ?? 0;
      cell.className = count > 1 ? "read" : count ? "own" : "";
      cell.replaceChildren(this._block(block, count));
    });
    const entries = living.reduce((sum, i) => sum + blocks[i].length, 0);
    const ended = step.filter((each, i) => each === at - 1 && dropped[i]).length;
    const fields = { n: living.length, entries, held: holders.size, saved: entries - holders.size, dropped: ended };
    this._sentence.textContent = text("tab.beams.sentence", fields);
    this._body.replaceChildren(
      ...living.map((i, nth) => {
        const places = make("td", "places", ...blocks[i].flatMap((block) => [this._block(block, holders.get(block)), " "]));
        const head = make("th", "", String(nth + 1));
        head.scope = "row";
        const name = token[i] < 0 ? text("tab.beams.prompt") : String(token[i]);
        return make("tr", "", head, make("td", "", name), make("td", "num", (score[i] / GRID).toFixed(2).replace("-", "−")), places);
      }),
    );
  }

  _block(block, holders) {
    const number = make("span", "", String(block));
    if (holders > 1) {
      number.append(make("small", "", `×${holders}`));
    }
    return number;
  }
}
