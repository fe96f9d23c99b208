// Draws the tree of a prefix cache into the figure "prefixes" (app/frontend/radix_tree.py): a step's splits and
// evictions move, unless motion is unwanted or frames come too fast to see it.

import { scheme } from "./colours.js";
import { openFigure } from "./figure.js";
import { pageData } from "./page_data.js";
import { layOut, origins } from "./prefix_history.js";
import { say } from "./text.js";

const LANES = { high: 24, low: 13, all: 380 }; // px
const MOVE_MS = 200;
const REST_MS = 210; // frames that come faster than this do not move: nobody could follow
const GAP = 1; // px between bars
const DIM = 0.18;
const CHARACTER = 7; // px a character of a name
const still = matchMedia("(prefers-reduced-motion: reduce)");

const mix = (a, b, share) => a + (b - a) * share;
const ease = (share) => 1 - (1 - share) ** 3;

export class RadixTree {
  // place: holds the figure and, above it, `labels`.
  static async open(place, labels) {
    const figure = await openFigure(pageData.figures.prefixes, place.querySelector("[id^=bokeh]"), { plainly: true });
    return new RadixTree(figure, place, labels);
  }

  constructor(figure, place, labels) {
    this._figure = figure;
    this._place = place;
    this._labels = labels;
    this._names = new Map(); // node → its label
    this._history = null;
    this._places = new Map();
    this.width = place.clientWidth;
    new ResizeObserver(([{ contentRect }]) => {
      this.width = contentRect.width;
    }).observe(place);
    this._timer = 0;
    this._drawn = -Infinity;
  }

  // history: a PrefixHistory; lit: node → whether it is lit, or null; moved: whether the step before was shown.
  draw(history, t, lit, theme, moved) {
    const fresh = this._history !== history;
    if (fresh) {
      this._history = history;
      this._scale(history.extent);
    }
    const tree = history.at(t);
    const before = t > 0 && !fresh ? history.at(t - 1) : new Map();
    const steps = this._tree !== tree;
    const old = this._places;
    this._places = steps || fresh ? layOut(tree) : old;
    this._tree = tree;
    const there = { tree, before, lit, colours: scheme(theme) };
    cancelAnimationFrame(this._timer);
    const now = performance.now();
    const moves = steps && moved && !still.matches && old.size > 0 && now - this._drawn > REST_MS;
    this._drawn = steps ? now : this._drawn;
    this._label(tree, lit, moves);
    if (!moves) {
      this._paint(there, this._places, new Map(), 1);
      return;
    }
    const from = origins(tree, this._places, old);
    const gone = new Map([...old].filter(([id]) => !tree.has(id)));
    const tick = (at) => {
      const share = ease(Math.min(1, Math.max(0, at - now) / MOVE_MS));
      this._paint(there, this._between(from, share), gone, share);
      if (share < 1) {
        this._timer = requestAnimationFrame(tick);
      }
    };
    tick(now);
  }

  _scale({ leaves, end }) {
    this._lane = Math.max(LANES.low, Math.min(LANES.high, Math.floor(LANES.all / leaves)));
    this._leaves = leaves;
    this._end = end;
    const height = leaves * this._lane;
    this._place.style.height = `${height}px`;
    const plot = this._figure.model("prefixes");
    plot.setv({ height });
    plot.x_range.setv({ start: 0, end });
    plot.y_range.setv({ start: leaves, end: 0 });
    this._labels.replaceChildren();
    this._names.clear();
    this._places = new Map();
    this._tree = null;
  }

  _between(from, share) {
    const places = new Map();
    for (const [id, to] of this._places) {
      const start = from.get(id);
      places.set(id, Object.fromEntries(Object.keys(to).map((edge) => [edge, mix(start[edge], to[edge], share)])));
    }
    return places;
  }

  // gone: places of nodes that were given up, `share` of whose way out is over.
  _paint({ tree, before, lit, colours }, places, gone, share) {
    const bars = { left: [], right: [], bottom: [], top: [], line: [], alpha: [], dash: [], width: [], colour: [], fill: [] };
    const outlines = { left: [], right: [], bottom: [], top: [], line: [], alpha: [], dash: [], width: [] };
    const x = this._end / Math.max(1, this.width);
    const y = 1 / this._lane;
    const edge = (into, { left, right, top, bottom }, line, alpha, dash, width) => {
      into.left.push(left);
      into.right.push(Math.max(left, right - GAP * x));
      into.top.push(top + GAP * y);
      into.bottom.push(bottom - GAP * y);
      into.line.push(line);
      into.alpha.push(alpha);
      into.dash.push(dash);
      into.width.push(width);
    };
    for (const [id, place] of gone) {
      edge(bars, place, colours.evict, 1 - share, [4, 3], 2);
      bars.colour.push(colours.evict);
      bars.fill.push(0.3 * (1 - share));
    }
    for (const [id, place] of places) {
      const { users } = tree.get(id);
      const alpha = lit && !lit(tree.get(id)) ? DIM : 1;
      edge(bars, place, users ? colours.real : colours.muted, alpha, users ? [] : [3, 2], 1);
      bars.colour.push(users ? colours.real : colours.cached);
      bars.fill.push(alpha * (users ? 0.85 : 0.55));
      if (before.size && !before.has(id)) {
        edge(outlines, place, colours.ink, alpha, [], 2);
      }
    }
    this._figure.setData("prefixes.bars", bars);
    if (outlines.left.length || this._outlined) {
      this._figure.setData("prefixes.outlines", outlines);
    }
    this._outlined = outlines.left.length > 0;
  }

  // Names over the bars; they slide along by the style sheet.
  _label(tree, lit, moves) {
    this._labels.classList.toggle("moving", moves);
    for (const [id, label] of this._names) {
      if (!tree.has(id)) {
        label.remove();
        this._names.delete(id);
      }
    }
    for (const [id, place] of this._places) {
      const node = tree.get(id);
      let label = this._names.get(id);
      if (!label) {
        label = document.createElement("span");
        label.lies = "";
        this._names.set(id, label);
        this._labels.append(label);
      }
      const lies = Object.values(place).join(" ");
      if (label.lies !== lies) {
        label.lies = lies;
        const { style } = label;
        style.left = `${(place.left / this._end) * 100}%`;
        style.width = `${((place.right - place.left) / this._end) * 100}%`;
        style.top = `${(place.top / this._leaves) * 100}%`;
        style.height = `${((place.bottom - place.top) / this._leaves) * 100}%`;
      }
      const room = ((place.right - place.left) / this._end) * this.width;
      const words = [`n${id}`, node.users ? `×${node.users}` : `· ${node.used}`];
      const whole = words.join(" ");
      say(label, whole.length * CHARACTER < room ? whole : words[0].length * CHARACTER <= room ? words[0] : "");
      const look = `${node.users ? "in-use" : ""}${lit && !lit(node) ? " dim" : ""}`;
      if (label.className !== look) {
        label.className = look;
      }
    }
  }

  // The node under a pointer, or null.
  nodeAt(event) {
    const box = this._place.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * this._end;
    const y = ((event.clientY - box.top) / box.height) * this._leaves;
    for (const [id, { left, right, top, bottom }] of this._places) {
      if (x >= left && x < right && y >= top && y < bottom) {
        return id;
      }
    }
    return null;
  }
}
