// Charts as one picture, with the words that stand around them on the page.

const COLUMN = 420; // px, before the screen's own density
const COLUMNS = 3;
const GAP = 24;
const LINE = 22;
const FONT = "ui-sans-serif, system-ui, sans-serif";

// Places for charts, each in a column but those that are wide: [{x, y, width, height, above}], with the height of the
// words above a chart, and the height of all.
export function places(charts, top) {
  const out = [];
  let [column, y, tallest] = [0, top, 0];
  for (const { wide, canvas, legend = [] } of charts) {
    if (column && (wide || column === COLUMNS)) {
      [column, y, tallest] = [0, y + tallest + GAP, 0];
    }
    const span = wide ? COLUMNS : 1;
    const width = span * COLUMN + (span - 1) * GAP;
    const height = (canvas.height * width) / canvas.width;
    const above = (1.7 + legend.length) * LINE;
    out.push({ x: GAP + column * (COLUMN + GAP), y, width, height, above });
    column += span;
    tallest = Math.max(tallest, above + height + 1.3 * LINE);
  }
  return { places: out, bottom: y + tallest + GAP };
}

// title: of the picture; legend: [{name, colour, dash}]; charts: [{title, axes: [upright, along], canvas, wide, legend}],
// a legend of their own only where they differ; colours: of a scheme. Resolves with a PNG.
export function pictureOf({ title, legend, charts, colours, scale }) {
  const laid = places(charts, GAP + LINE * (legend.length + 2.5));
  const canvas = document.createElement("canvas");
  canvas.width = scale * (COLUMNS * (COLUMN + GAP) + GAP);
  canvas.height = scale * laid.bottom;
  const pen = canvas.getContext("2d");
  pen.scale(scale, scale);
  pen.fillStyle = colours.panel;
  pen.fillRect(0, 0, canvas.width, canvas.height);
  const write = (words, x, y, look = "14px", colour = colours.ink) => {
    pen.font = `${look} ${FONT}`;
    pen.fillStyle = colour;
    pen.fillText(words, x, y);
  };
  write(title, GAP, GAP + 16, "650 18px");
  const explain = ({ name, colour, dash }, x, y) => {
    pen.strokeStyle = colour;
    pen.lineWidth = 2.5;
    pen.setLineDash({ dashed: [7, 4], dotted: [2, 3] }[dash] ?? []);
    pen.beginPath();
    pen.moveTo(x, y - 5);
    pen.lineTo(x + 30, y - 5);
    pen.stroke();
    write(name, x + 40, y);
  };
  legend.forEach((look, i) => explain(look, GAP, GAP + LINE * (i + 2)));
  charts.forEach((chart, i) => {
    const { x, y, width, height, above } = laid.places[i];
    write(chart.title, x, y + 14, "650 14px");
    (chart.legend ?? []).forEach((look, line) => explain(look, x, y + 14 + LINE * (line + 1)));
    write(chart.axes[0], x, y + above - 5, "12px", colours.muted);
    pen.drawImage(chart.canvas, x, y + above, width, height);
    pen.textAlign = "right";
    write(chart.axes[1], x + width, y + above + height + 14, "12px", colours.muted);
    pen.textAlign = "left";
  });
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}
