// Hit rates of a trace that says what its prompts share: words, a chart, a table.

import { ChartCards } from "./chart_cards.js";
import { tableCard } from "./table_card.js";
import { percent, text } from "./text.js";

export class ReplayHits {
  constructor(place) {
    this._place = place;
    this._charts = new ChartCards("replay-hits-chart");
    this._tables = document.getElementById("replay-hits-tables");
    this._words = document.getElementById("replay-hits-words");
    this._tables.before(this._charts.element);
    this._drawn = Promise.resolve();
  }

  // hits: "hit_rates" of a response, undefined for a trace of lengths alone.
  draw(hits, theme) {
    this._place.hidden = !hits;
    if (!hits) {
      return;
    }
    const { ceiling, num_requests: total, num_warm_up: warmUp, num_blocks: blocks, block_size: size } = hits;
    this._words.textContent = text("tab.replay.hits.words", {
      blocks,
      size,
      counted: total - warmUp,
      tokens: ceiling.total_tokens,
      percent: percent(ceiling.hit_rate),
    });
    this._tables.replaceChildren(...hits.tables.map((each, i) => tableCard(each, `replay-hits-table-${i}`)));
    // One after the other: a figure that is being opened is not opened twice.
    this._drawn = this._drawn.then(() => this._charts.draw(hits.charts, theme));
  }
}
