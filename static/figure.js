// Bokeh models by name, and their data. The only module that knows BokehJS.

import { bokehDocuments, pageData } from "./page_data.js";

const Bokeh = () => window.Bokeh;

// Resolves once BokehJS is there. The static site's page leaves it to be had when a figure is first opened, since it
// takes longer than all that plays without; a server's page brings it along.
async function bokehLoaded() {
  const url = pageData.urls["bokeh.js"];
  if (!url) {
    await new Promise((there) => (document.readyState === "complete" ? there() : addEventListener("load", there)));
    return;
  }
  const script = document.createElement("script");
  script.src = url;
  await new Promise((there, failed) => {
    script.onload = there;
    script.onerror = () => failed(new Error(`${url} could not be loaded`));
    document.head.append(script);
  });
}

// Figures are pictures: pointers are followed by what lies around them, and Tab shall not stop in them.
function makeInert(root = document) {
  root.querySelectorAll(".bk-Figure").forEach((figure) => (figure.inert = true));
}

const LOOKS = ["decimated_glyph", "selection_glyph", "nonselection_glyph", "muted_glyph"];
const LOOK_METHODS = ["set_data", "set_visuals", "after_visuals", "after_lazy_visuals", "map_data"];

// Leaves out what Bokeh does at every change of data and these pictures never show: four more looks of each glyph
// (selected, muted …), a mask of what lies outside the frame (nothing does), an element of the document as large
// as the glyph, whose style sheet is written anew at every repaint, a second canvas for tools, a search of new columns
// for models, and a ground and a frame without colour, for which it asks the style sheets (an exported picture has one).
function drawPlainly(figure) {
  const { primary, overlays } = figure.canvas_view;
  overlays.el.style.display = "none";
  figure.model.document.partially_update_all_models = () => {};
  for (const part of ["_paint_empty", "_paint_outline"]) {
    const paint = figure[part].bind(figure);
    figure[part] = (...where) => figure.model.border_fill_color && paint(...where);
  }
  // Bokeh clears from half a pixel inside the canvas: what was drawn in its first row and column would stay.
  primary.clear = () => {
    const { ctx } = primary;
    ctx.save();
    ctx.resetTransform();
    ctx.clearRect(0, 0, ctx.canvas.width, ctx.canvas.height);
    ctx.restore();
  };
  for (const renderer of figure.renderer_views.values()) {
    renderer.update_position = () => {};
    if (renderer.glyph) {
      renderer._update_masked_indices = () => renderer.all_indices;
      for (const look of LOOKS) {
        for (const method of LOOK_METHODS) {
          renderer[look][method] = () => {};
        }
      }
    }
  }
}

let loaded = null;
let opening = Promise.resolve(); // one after the other, so that each figure finds its own document

function inTurn(open) {
  loaded ??= bokehLoaded();
  const opened = Promise.all([loaded, opening]).then(open);
  opening = opened.catch(() => {}); // whoever asked for it is told
  return opened;
}

// Draws those of the page's own figures that are opened "first" or "later" (app/frontend/page.py, figures).
export function openFigures(when) {
  return inTurn(async () => {
    const { docs, item } = bokehDocuments[when];
    await Bokeh().embed.embed_items(docs, [item]);
    makeInert();
    item.root_ids.forEach((id) => drawPlainly(Bokeh().index.find_one_by_id(id)));
  });
}

export const hasModel = (name) => Boolean(Bokeh()?.documents.some((each) => each.get_model_by_name(name)));

// The model called `name` in any document of the page; throws if there is none.
export function model(name) {
  for (const each of Bokeh().documents) {
    const found = each.get_model_by_name(name);
    if (found) {
      return found;
    }
  }
  throw new Error(`no model ${name} in the page's figures`);
}

// Replaces the columns of the source called `name`.
export function setData(name, columns) {
  model(name).data = columns;
}

// Sets properties of the glyph of the renderer called `name` (and of its look while nothing is selected).
export function setGlyph(name, properties) {
  model(name).glyph.setv(properties);
}

// Opens a figure of its own (a Bokeh json_item) in `place`, as often as one likes: names are looked up in this
// figure only. Resolves with {model(name), setData(name, columns), picture(name, ground)}. plainly: see drawPlainly.
export function openFigure(item, place, options) {
  return inTurn(() => open(item, place, options));
}

async function open(item, place, { plainly = false } = {}) {
  place.replaceChildren();
  const before = new Set(Bokeh().documents);
  const views = await Bokeh().embed.embed_item(item, place);
  makeInert(place);
  const opened = Bokeh().documents.find((each) => !before.has(each));
  const find = (name) => opened.get_model_by_name(name);
  if (plainly) {
    opened.roots().forEach(({ id }) => drawPlainly(Bokeh().index.find_one_by_id(id)));
  }
  return {
    model: find,
    setData(name, columns) {
      find(name).data = columns;
    },
    // Of a root, as a canvas. The same item may be open elsewhere, with the same ids.
    picture: (name, ground) => pictureOf(views.get_by_id(find(name).id), "png", ground).canvas,
  };
}

const dressings = new Map();

// What the figure called `name` shows in a picture only: dress(true) before it is taken, dress(false) after.
export function dressForExport(name, dress) {
  dressings.set(name, dress);
}

// The figure called `name` as a picture: kind "png" or "svg"; `ground` is the colour behind it.
export function exportFigure(name, kind, ground) {
  return inTurn(() => {
    dressings.get(name)?.(true);
    const layer = pictureOf(Bokeh().index.find_one_by_id(model(name).id), kind, ground);
    dressings.get(name)?.(false);
    return layer.to_blob();
  });
}

// What a view shows, drawn anew on a layer of Bokeh's, which has a canvas if kind is "png".
function pictureOf(view, kind, ground) {
  view.model.setv({ border_fill_color: ground });
  const layer = view.export(kind, true);
  view.model.setv({ border_fill_color: null });
  return layer;
}
