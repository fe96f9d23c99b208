// What can be taken along: the recording, its table, the figures.

import { exportFigure, hasModel } from "./figure.js";

const FIGURES = ["pool", "waste", "timeline"];

export function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// One line a step, one column a count.
export function frameTable(recording) {
  const { frames } = recording.columns;
  const columns = Object.keys(frames).filter((name) => !name.endsWith("_start"));
  const lines = [["step", ...columns].join(",")];
  for (let t = 0; t <= recording.steps; t++) {
    lines.push([t, ...columns.map((name) => frames[name][t])].join(","));
  }
  return `${lines.join("\n")}\n`;
}

function fileStem(recording, t) {
  const { sc, seed, mode } = recording.settings;
  return `kvscope-${sc}-${mode}-seed${seed}${t === undefined ? "" : `-step${t}`}`;
}

// kind: "json" | "csv" | "png" | "svg".
export async function exportAs(kind, recording, t, ground) {
  if (kind === "json") {
    const { columns, settings } = recording;
    const content = JSON.stringify({ version: 1, settings, recording: columns });
    save(new Blob([content], { type: "application/json" }), `${fileStem(recording)}.json`);
  } else if (kind === "csv") {
    save(new Blob([frameTable(recording)], { type: "text/csv" }), `${fileStem(recording)}.csv`);
  } else {
    const ofCache = recording.prefixes && hasModel("prefixes") ? ["prefixes"] : [];
    for (const name of [...FIGURES, ...ofCache]) {
      save(await exportFigure(name, kind, ground), `${fileStem(recording, t)}-${name}.${kind}`);
    }
  }
}
