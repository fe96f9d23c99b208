// The charts of a report as cards, each with title, legend and names of its axes.

import { Chart } from "./chart.js";
import { axisOf, legendOf } from "./chart_layout.js";
import { scheme } from "./colours.js";
import { make } from "./make.js";
import { withUnit } from "./table_card.js";
import { tabData } from "./tab_data.js";
import { text } from "./text.js";

export class ChartCards {
  // name: the cards' titles get ids of it, unique on the page.
  constructor(name) {
    this.element = make("div", "charts");
    this._name = name;
    this._cards = []; // {card, title, value, legend, place, position, figure}, reused from one drawing to the next
    this._drawn = []; // the charts that are shown
  }

  async draw(charts, theme) {
    this._drawn = charts;
    this._hasWide = charts.length % 2 === 1; // the first then takes a row of its own
    this.element.classList.toggle("odd", this._hasWide);
    charts.forEach((chart, i) => this._dress(i, chart, theme)); // all have their size before the first is drawn
    this._cards.slice(charts.length).forEach(({ card }) => (card.hidden = true));
    for (const [i, chart] of charts.entries()) {
      const card = this._cards[i];
      card.figure ??= await Chart.open(card.place);
      card.figure.draw(chart, text, theme);
    }
  }

  // What is shown, as pictureOf in chart_picture.js takes it.
  pictures(theme) {
    const colours = scheme(theme);
    return this._drawn.map((chart, i) => {
      const { title, value, position, figure } = this._cards[i];
      const legend = legendOf(chart, colours, tabData.parts);
      return {
        title: title.textContent,
        axes: [value.textContent, position.textContent],
        canvas: figure.picture(colours.panel),
        wide: !i && this._hasWide,
        legend: legend.map(({ key, colour, dash }) => ({ name: text(key), colour, dash: chart.kind === "line" ? dash : "" })),
      };
    });
  }

  // Gives a card its words and its size.
  _dress(i, chart, theme) {
    this._cards[i] ??= this._card(i);
    const { card, title, value, legend, place, position } = this._cards[i];
    const axis = axisOf(chart);
    card.hidden = false;
    card.dataset.chart = chart.key;
    title.textContent = text(chart.key); // the figure's name, from the moment it is there
    value.textContent = withUnit(axis.value);
    position.textContent = axis.position ? withUnit(axis.position) : "";
    position.hidden = !axis.position;
    place.style.height = `${Chart.heightOf(chart)}px`;
    legend.replaceChildren(...legendOf(chart, scheme(theme), tabData.parts).map((look) => legendItem(look, chart.kind)));
  }

  _card(i) {
    const title = make("h3", "");
    title.id = `${this._name}-${i}`;
    const value = make("p", "axis-words");
    const legend = make("ul", "legend");
    const place = make("div", "figure chart-figure");
    place.setAttribute("role", "img");
    place.setAttribute("aria-labelledby", title.id);
    const position = make("p", "axis-words axis-x");
    const card = make("section", "card", title, legend, value, place, position);
    this.element.append(card);
    return { card, title, value, legend, place, position, figure: null };
  }
}

export function legendItem({ key, colour, hatch, dash }, kind) {
  const swatch = make("i", `key ${kind === "line" ? `key-line key-line-${dash}` : hatchClass(hatch)}`);
  swatch.style.setProperty("--key", colour);
  swatch.ariaHidden = "true";
  return make("li", "", swatch, make("span", "", text(key)));
}

const hatchClass = (hatch) => ({ " ": "key-real", "/": "key-reserved", x: "key-internal", ".": "key-external" })[hatch] ?? "key-real";
