// Lines of a hatch, as segments of a Bokeh glyph. Bokeh's own hatches make a canvas for every rectangle each
// time the data changes, which alone costs more than a frame has; lines cost a tenth of it.

export const HATCHES = {
  reserved: { spacing: 6, width: 2, crossed: false },
  internal: { spacing: 5, width: 1, crossed: true },
};

export const emptyHatch = () => ({ x0: [], y0: [], x1: [], y1: [], colour: [], alpha: [], width: [] });

// Appends lines at 45° inside a rectangle (edges in px, y downwards). Lines lie on one grid for the whole figure,
// so that neighbouring rectangles of one owner look like one surface.
// scaleX, scaleY: px per unit of the figure's axes.
export function pushHatch(into, { left, right, top, bottom }, hatch, colour, alpha, scaleX, scaleY) {
  const line = (x0, y0, x1, y1) => {
    into.x0.push(x0 / scaleX);
    into.y0.push(y0 / scaleY);
    into.x1.push(x1 / scaleX);
    into.y1.push(y1 / scaleY);
    into.colour.push(colour);
    into.alpha.push(alpha);
    into.width.push(hatch.width);
  };
  const step = hatch.spacing * Math.SQRT2;
  for (let c = Math.ceil((left + top) / step) * step; c < right + bottom; c += step) {
    const from = Math.max(left, c - bottom);
    const to = Math.min(right, c - top);
    line(from, c - from, to, c - to);
  }
  if (hatch.crossed) {
    for (let c = Math.ceil((left - bottom) / step) * step; c < right - top; c += step) {
      const from = Math.max(left, c + top);
      const to = Math.min(right, c + bottom);
      line(from, from - c, to, to - c);
    }
  }
}
