// Draws a chart of an experiment's report into a figure "chart" (app/frontend/chart.py) of its own.

import { scheme } from "./colours.js";
import { isUpright, layOut } from "./chart_layout.js";
import { openFigure } from "./figure.js";
import { tabData } from "./tab_data.js";

const ROW_HEIGHT = 30;
const HEIGHT = 240;

export class Chart {
  // place: an empty element for the figure.
  static async open(place) {
    return new Chart(await openFigure(tabData.figures.chart, place), place);
  }

  constructor(figure, place) {
    this._figure = figure;
    this._place = place;
  }

  // Of a chart's figure, in px.
  static heightOf(chart) {
    return isUpright(chart) ? HEIGHT : 34 + ROW_HEIGHT * chart.x.length;
  }

  // What is shown, as a canvas; `ground` is the colour behind it.
  picture(ground) {
    return this._figure.picture("chart", ground);
  }

  // chart: as in a report; name(key): a text; theme: "light" or "dark".
  draw(chart, name, theme) {
    const colours = scheme(theme);
    const laid = layOut(chart, name, colours, tabData.parts);
    this.show({ ...laid, height: Chart.heightOf(chart) }, theme);
  }

  // laid: height in px, ranges, ticks and the columns of every source.
  show({ height, ...laid }, theme) {
    const colours = scheme(theme);
    const { model, setData } = this._figure;
    const plot = model("chart");
    this._place.style.height = `${height}px`;
    plot.setv({ height });
    plot.x_range.setv({ start: laid.x.start, end: laid.x.end });
    plot.y_range.setv({ start: laid.y.start, end: laid.y.end });
    for (const side of ["x", "y"]) {
      const { ticks, labels, grid } = laid[side];
      model(`chart.${side}.ticker`).setv({ ticks });
      model(`chart.${side}`).setv({ major_label_overrides: new Map(labels), major_label_text_color: colours.ink });
      model(`chart.${side}.grid`).setv({ visible: grid, grid_line_color: colours.line });
    }
    for (const source of ["bars", "lines", "points", "values"]) {
      setData(`chart.${source}`, laid[source]);
    }
    model("chart.bars.glyph").glyph.setv({ line_color: colours.cell_line });
    model("chart.values.glyph").glyph.setv({ text_color: colours.ink });
  }
}
