import assert from "node:assert/strict";
import test from "node:test";

import { emptyHatch, HATCHES, pushHatch } from "../../static/hatch.js";

const BOX = { left: 10, right: 50, top: 4, bottom: 34 };

function lines(kind, box = BOX, scaleX = 1, scaleY = 1) {
  const into = emptyHatch();
  pushHatch(into, box, HATCHES[kind], "#123456", 0.5, scaleX, scaleY);
  return into.x0.map((x0, i) => ({ x0, y0: into.y0[i], x1: into.x1[i], y1: into.y1[i] }));
}

test("every line runs at 45° and stays inside its rectangle", () => {
  for (const kind of ["reserved", "internal"]) {
    const drawn = lines(kind);
    assert.ok(drawn.length > 4);
    for (const { x0, y0, x1, y1 } of drawn) {
      assert.ok(Math.abs(Math.abs(x1 - x0) - Math.abs(y1 - y0)) < 1e-9);
      for (const [x, y] of [[x0, y0], [x1, y1]]) {
        assert.ok(x >= BOX.left - 1e-9 && x <= BOX.right + 1e-9 && y >= BOX.top - 1e-9 && y <= BOX.bottom + 1e-9);
      }
    }
  }
});

test("only what is never filled is crossed", () => {
  const slopes = (kind) => new Set(lines(kind).map(({ x0, y0, x1, y1 }) => Math.sign((y1 - y0) * (x1 - x0))));
  assert.equal(slopes("reserved").size, 1);
  assert.equal(slopes("internal").size, 2);
});

test("neighbours share one grid of lines", () => {
  const sum = ({ x0, y0 }) => (x0 + y0) / (HATCHES.reserved.spacing * Math.SQRT2);
  const all = [...lines("reserved"), ...lines("reserved", { left: 50, right: 90, top: 4, bottom: 34 })];
  for (const line of all) {
    assert.ok(Math.abs(sum(line) - Math.round(sum(line))) < 1e-6);
  }
});

test("lines are given in the figure's units", () => {
  const [inPixels] = lines("reserved");
  const [inUnits] = lines("reserved", BOX, 10, 5);
  assert.ok(Math.abs(inUnits.x0 * 10 - inPixels.x0) < 1e-9 && Math.abs(inUnits.y0 * 5 - inPixels.y0) < 1e-9);
});
