import assert from "node:assert/strict";
import test from "node:test";

import { csvOf, jsonOf } from "../../static/report_export.js";

const TABLE = {
  key: "runs",
  columns: [
    { key: "run", kind: "key" },
    { key: "steps", kind: "int", unit: "a step" },
  ],
  rows: [
    ["paged", 90],
    ['the "oracle", at best', null],
  ],
};
const heading = ([key, unit]) => (unit ? `${key} (${unit})` : key);

test("tables stand one below the other, each under its title, with words that break a line quoted", () => {
  const csv = csvOf([TABLE, { ...TABLE, rows: [] }], (key) => key.toUpperCase(), heading);
  assert.equal(
    csv,
    'RUNS\nrun,steps (a step)\nPAGED,90\n"THE ""ORACLE"", AT BEST",\n\nRUNS\nrun,steps (a step)\n',
  );
});

test("a report comes whole, with a version", () => {
  const report = { experiment: "x", settings: { seed: 1 }, tables: [TABLE] };
  assert.deepEqual(JSON.parse(jsonOf(report)), { version: 1, ...report });
});
