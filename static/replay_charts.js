// The charts of up to three replays laid over each other, one card each.

import { Chart } from "./chart.js";
import { scheme } from "./colours.js";
import { make } from "./make.js";
import { LOOKS, chartsOf, distribution, overTime, timeAxis } from "./replay_lines.js";
import { timeWords } from "./replay_result.js";
import { text } from "./text.js";

const find = (id) => document.getElementById(id);

// A line as it is drawn for the replay at `i` of those kept.
export function swatch(i, theme) {
  const [role, dash] = LOOKS[i];
  const line = make("i", `key key-line key-line-${dash}`);
  line.style.setProperty("--key", scheme(theme)[role]);
  line.ariaHidden = "true";
  return line;
}

export class ReplayCharts {
  constructor() {
    this._cards = new Map(); // name → {card, title, legend, value, position, figure}
    this._drawn = Promise.resolve();
  }

  // kept: [{result, name}, …]. Resolves once all is drawn.
  draw(kept, theme) {
    // One drawing after the other: a card that is being opened is not opened twice.
    this._drawn = this._drawn.then(() => this._draw(kept, theme));
    return this._drawn;
  }

  async _draw(kept, theme) {
    const results = kept.map(({ result }) => result);
    const charts = chartsOf(results);
    const colours = scheme(theme);
    for (const chart of charts) {
      if (!this._cards.has(chart.name)) {
        this._cards.set(chart.name, await this._open(chart));
        await new Promise((resolve) => setTimeout(resolve)); // a figure takes long to open: let a frame pass
      }
      const { card, title, legend, value, position, figure } = this._cards.get(chart.name);
      card.hidden = false;
      title.textContent = text(`tab.replay.chart.${chart.name}`);
      legend.hidden = kept.length < 2;
      legend.replaceChildren(...kept.map(({ name }, i) => make("li", "", swatch(i, theme), make("span", "", name))));
      value.textContent = text(`tab.replay.axis.${chart.unit}`);
      if (chart.kind === "time") {
        position.textContent = text(`tab.replay.axis.time.${timeAxis(results).unit}`);
        figure.show(overTime(results, chart, colours), theme);
      } else {
        position.textContent = text("tab.replay.axis.latency");
        figure.show(distribution(results, chart, colours, timeWords), theme);
      }
    }
    const shown = new Set(charts.map(({ name }) => name));
    this._cards.forEach(({ card }, name) => (card.hidden = !shown.has(name)));
    this._shown = charts.map(({ name }) => name);
  }

  async _open({ name, kind }) {
    const title = make("h4", "", text(`tab.replay.chart.${name}`));
    title.id = `replay-chart-${name}`;
    const legend = make("ul", "legend");
    const value = make("p", "axis-words");
    const place = make("div", "figure chart-figure");
    place.setAttribute("role", "img");
    place.setAttribute("aria-labelledby", title.id);
    place.setAttribute("aria-describedby", kind === "time" ? "replay-time-table" : "replay-latency-table");
    const position = make("p", "axis-words axis-x");
    const card = make("section", "replay-chart", title, legend, value, place, position);
    card.dataset.chart = name;
    find(kind === "time" ? "replay-time-charts" : "replay-latency-charts").append(card);
    return { card, title, legend, value, position, figure: await Chart.open(place) };
  }

  // What is shown, for a picture: [{title, axes, canvas}].
  pictures(ground) {
    return (this._shown ?? []).map((name) => {
      const { title, value, position, figure } = this._cards.get(name);
      return { title: title.textContent, axes: [value.textContent, position.textContent], canvas: figure.picture(ground) };
    });
  }
}
