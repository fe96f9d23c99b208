import assert from "node:assert/strict";
import test from "node:test";

import { places } from "../../static/chart_picture.js";

const chart = (width, height, wide = false) => ({ wide, canvas: { width, height } });

test("a wide chart has a row of its own, the others stand three in a row", () => {
  const { places: at, bottom } = places([chart(1000, 200, true), ...Array(4).fill(chart(400, 200))], 100);
  assert.equal(at[0].y, 100);
  assert.ok(at[0].width > 3 * at[1].width);
  assert.deepEqual(new Set([at[1].y, at[2].y, at[3].y]).size, 1);
  assert.ok(at[1].y > at[0].y + at[0].height);
  assert.deepEqual([at[4].x, at[4].y > at[3].y], [at[1].x, true]);
  assert.ok(bottom > at[4].y + at[4].height);
});

test("a chart's own legend stands above it, a line each", () => {
  const legend = [{ name: "a" }, { name: "b" }];
  const [plain, told] = places([chart(400, 200), { ...chart(400, 200), legend }], 0).places;
  assert.equal(plain.y, told.y);
  assert.equal(Math.round(told.above - plain.above), 2 * 22);
});

test("a chart keeps the shape of its canvas", () => {
  const { places: at } = places([chart(300, 150), chart(600, 300)], 0);
  assert.deepEqual(at.map(({ width, height }) => width / height), [2, 2]);
});
