// One query against scattered blocks, block by block: scores, running maximum and sum, weights so far, and the
// weights of one softmax over the whole row. Draws the picture "trace" of the experiment paged_attention.

import { weightsAfter } from "./attention_steps.js";
import { Chart } from "./chart.js";
import { roundTicks } from "./chart_layout.js";
import { make } from "./make.js";
import { scheme } from "./colours.js";
import { Stepper } from "./stepper.js";
import { text } from "./text.js";

const GAP = 0.8; // tokens' widths between the bars of two blocks
const MOST_LABELS = 20; // block numbers below the bars

const shown = (number) => number.toFixed(3).replace("-", "−");

export class AttentionLab {
  constructor(place) {
    this._title = make("h3");
    this._sentence = make("p", "picture-sentence");
    this._sentence.setAttribute("aria-live", "polite");
    this._stepper = new Stepper((at) => this._drawStep(at));
    this._memoryTitle = make("p", "axis-words");
    this._memory = make("div", "memory-strip");
    this._memory.ariaHidden = "true"; // the table "block by block" says the same
    this._panels = ["scores", "weights"].map(() => ({
      words: make("p", "axis-words"),
      place: make("div", "figure chart-figure"),
    }));
    this._axis = make("p", "axis-words axis-x");
    this.element = make(
      "section", "card picture", this._title, this._stepper.element, this._sentence, this._memoryTitle, this._memory,
      ...this._panels.flatMap(({ words, place: each }) => [words, each]), this._axis,
    );
    this.element.dataset.picture = "trace";
    place.append(this.element);
  }

  async draw(trace, theme) {
    const [scores, weights] = this._panels;
    this._title.textContent = text("tab.attention.title");
    this._memoryTitle.textContent = text("tab.attention.memory");
    scores.words.textContent = text("tab.attention.scores");
    weights.words.textContent = text("tab.attention.weights");
    this._axis.textContent = text("tab.attention.axis");
    for (const panel of this._panels) {
      panel.place.setAttribute("aria-label", panel.words.textContent);
      panel.place.setAttribute("role", "img");
      panel.chart ??= await Chart.open(panel.place);
    }
    this._theme = theme;
    const last = trace.block.length - 1;
    if (this._trace !== trace) {
      this._trace = trace;
      this._drawMemory(trace);
      this._stepper.show(last, 0, last);
    } else {
      this._stepper.show(this._stepper.at, 0, last);
    }
  }

  // Every block up to the last one that is read; inside those of the query their place in its table.
  _drawMemory({ block }) {
    const places = new Map(block.map((physical, at) => [physical, at]));
    const count = Math.ceil((Math.max(...block) + 1) / 16) * 16;
    this._memory.classList.toggle("fine", count > 96);
    this._cells = [];
    this._memory.replaceChildren(
      ...Array.from({ length: count }, (_, physical) => {
        const cell = make("i", "", String(physical));
        if (places.has(physical)) {
          this._cells[places.get(physical)] = cell;
        }
        return cell;
      }),
    );
  }

  _drawStep(at) {
    const trace = this._trace;
    this._cells.forEach((cell, i) => {
      cell.className = i < at ? "read" : i === at ? "reading" : "ahead";
    });
    this._sentence.textContent = this._words(trace, at);
    this._stepper.say(text("tab.attention.value", { at: at + 1, all: trace.block.length }));
    const bars = this._place(trace);
    this._drawScores(bars, at);
    this._drawWeights(bars, at);
  }

  // Where each token's bar stands: blocks are set apart.
  _place({ scores }) {
    const bars = [];
    let left = GAP / 2;
    scores.forEach((tile, i) => {
      tile.forEach((score) => bars.push({ score, tile: i, left: left++, right: left }));
      left += GAP;
    });
    return Object.assign(bars, { width: left - GAP / 2 });
  }

  _words(trace, at) {
    const fields = {
      at: at + 1,
      all: trace.block.length,
      block: trace.block[at],
      best: shown(Math.max(...trace.scores[at])),
      maximum: shown(trace.maximum[at]),
      rescale: shown(trace.rescale[at]),
      total: shown(trace.total[at]),
    };
    const raised = at && trace.maximum[at] > trace.maximum[at - 1];
    const sentence = text(`tab.attention.${at ? (raised ? "raised" : "same") : "first"}`, fields);
    if (at < trace.block.length - 1) {
      return sentence;
    }
    const off = Math.max(...trace.weights.map((weight, i) => Math.abs(weight - trace.dense_weights[i])));
    return `${sentence} ${text("tab.attention.last", { off: off ? off.toExponential(1).replace("-", "−") : "0" })}`;
  }

  _drawScores(bars, at) {
    const colours = scheme(this._theme);
    const { maximum } = this._trace;
    const all = bars.map(({ score }) => score);
    const [low, high] = [Math.min(0, ...all), Math.max(0, ...all)];
    const ticks = roundTicks(high - low, 4).slice(1).flatMap((tick) => [-tick, tick]);
    const steps = maximum.slice(0, at + 1).flatMap((value, tile) => {
      const [first, last] = [bars.find((bar) => bar.tile === tile), bars.findLast((bar) => bar.tile === tile)];
      return [[first.left - GAP / 2, value], [last.right + GAP / 2, value]];
    });
    const [panel] = this._panels;
    const pad = (high - low) * 0.06;
    this._show(panel, bars, at, {
      heights: all,
      range: [low - pad, high + pad],
      ticks: [0, ...ticks].filter((tick) => tick >= low - pad && tick <= high + pad),
      line: { xs: [steps.map(([x]) => x)], ys: [steps.map(([, y]) => y)], colour: [colours.internal], dash: ["solid"] },
      marks: [],
    });
  }

  _drawWeights(bars, at) {
    const so_far = weightsAfter(this._trace, at);
    const dense = this._trace.dense_weights;
    const ticks = roundTicks(Math.max(...so_far, ...dense), 4);
    this._show(this._panels[1], bars, at, {
      heights: bars.map((_, i) => so_far[i] ?? 0),
      range: [0, ticks.at(-1) * 1.03],
      ticks,
      line: { xs: [], ys: [], colour: [], dash: [] },
      marks: dense,
    });
  }

  _show(panel, bars, at, { heights, range, ticks, line, marks }) {
    const colours = scheme(this._theme);
    const middles = this._trace.block.map((block, tile) => {
      const own = bars.filter((bar) => bar.tile === tile);
      return [(own[0].left + own.at(-1).right) / 2, String(block)];
    });
    const every = Math.ceil(middles.length / MOST_LABELS);
    const labelled = middles.filter((_, i) => i % every === 0);
    panel.chart.show(
      {
        height: 170,
        x: { start: 0, end: bars.width, ticks: labelled.map(([x]) => x), labels: labelled, grid: false },
        y: {
          start: range[0],
          end: range[1],
          ticks,
          labels: ticks.map((tick) => [tick, String(Number(tick.toPrecision(3))).replace("-", "−")]),
          grid: true,
        },
        bars: {
          left: bars.map(({ left }) => left + 0.06),
          right: bars.map(({ right }) => right - 0.06),
          bottom: heights.map((height) => Math.min(0, height)),
          top: heights.map((height) => Math.max(0, height)),
          colour: bars.map(({ tile }) => (tile === at ? colours.reserved : colours.real)),
          solid: bars.map(({ tile }) => (tile > at ? 0.18 : 1)),
          hatch: bars.map(() => " "),
        },
        lines: line,
        points: {
          x: marks.map((_, i) => (bars[i].left + bars[i].right) / 2),
          y: [...marks],
          colour: marks.map(() => colours.ink),
          mark: marks.map(() => "dash"),
        },
        values: { x: [], y: [], words: [] },
      },
      this._theme,
    );
  }
}
