// Draws a tree of beams up to a step into a figure "beams" (app/frontend/beam_tree.py) of its own.

import { lanesOf } from "./beam_layout.js";
import { scheme } from "./colours.js";
import { openFigure } from "./figure.js";

const LANE = 18; // px
const FAINT = 0.22;

export class BeamTree {
  // place: an empty element for the figure.
  static async open(place) {
    const { tabData } = await import("./tab_data.js"); // only when there are beams: the first screen does without
    return new BeamTree(await openFigure(tabData.figures.beams, place), place);
  }

  constructor(figure, place) {
    this._figure = figure;
    this._place = place;
    this._tree = null;
  }

  // tree: as beam_layout.js has it; `at`: the step shown, what comes later is faint.
  draw(tree, at, theme) {
    const { model, setData } = this._figure;
    const colours = scheme(theme);
    const plot = model("beams");
    if (this._tree !== tree) {
      this._tree = tree;
      this._lanes = lanesOf(tree);
      const height = (Math.max(...this._lanes) + 1) * LANE + 12;
      this._place.style.height = `${height}px`;
      plot.setv({ height });
      plot.x_range.setv({ start: Math.min(...tree.step) - 0.6, end: Math.max(...tree.step) + 0.6 });
      plot.y_range.setv({ start: Math.max(...this._lanes) + 0.8, end: -0.8 });
    }
    const lanes = this._lanes;
    const edges = { x0: [], y0: [], x1: [], y1: [], colour: [], alpha: [] };
    const nodes = { x: [], y: [], colour: [], alpha: [], size: [] };
    const ends = { x: [], y: [] };
    // Lit is what leads to the beams of this step: where they come from, back to the prompt.
    const leading = new Set();
    tree.step.forEach((step, i) => {
      for (let each = step === at ? i : -1; each >= 0 && !leading.has(each); each = tree.parent[each]) {
        leading.add(each);
      }
    });
    tree.step.forEach((step, i) => {
      const alpha = step > at ? FAINT : 1;
      const colour = leading.has(i) ? colours.real : colours.muted;
      const from = tree.parent[i];
      if (from >= 0) {
        edges.x0.push(tree.step[from]);
        edges.y0.push(lanes[from]);
        edges.x1.push(step);
        edges.y1.push(lanes[i]);
        edges.colour.push(colour);
        edges.alpha.push(alpha);
      }
      nodes.x.push(step);
      nodes.y.push(lanes[i]);
      nodes.colour.push(colour);
      nodes.alpha.push(alpha);
      nodes.size.push(step === at ? 10 : 5);
      if (tree.dropped[i] && step < at) {
        ends.x.push(step);
        ends.y.push(lanes[i]);
      }
    });
    setData("beams.edges", edges);
    setData("beams.nodes", nodes);
    setData("beams.ends", ends);
    model("beams.ends.glyph").glyph.setv({ line_color: colours.preempt });
  }
}
