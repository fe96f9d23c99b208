import assert from "node:assert/strict";
import test from "node:test";

import { layOutCurve } from "../../static/sizing_curve.js";

const COLOURS = { real: "blue", reserved: "orange" };
const lay = (context, users, chosen) => layOutCurve({ context, users }, chosen, COLOURS, (n) => `${n}k`);

test("half as many users at twice the length make a straight line", () => {
  const { lines } = lay([512, 1024, 2048, 4096], [800, 400, 200, 100], 1024);
  const [[xs], [ys]] = [lines.xs, lines.ys];
  assert.deepEqual(xs, [9, 10, 11, 12]);
  const falls = ys.slice(1).map((y, i) => ys[i] - y);
  falls.forEach((fall) => assert.ok(Math.abs(fall - Math.log10(2)) < 1e-12));
});

test("powers of two are labelled, in thousands where they are", () => {
  const { x } = lay([512, 1024, 1500, 2048], [9, 8, 7, 6], 1500);
  assert.deepEqual(x.labels, [[9, "512"], [10, "1k"], [11, "2k"]]);
});

test("more lengths than there is room for labels leave some of them out", () => {
  const context = Array.from({ length: 15 }, (_, i) => 512 * 2 ** i);
  const { x, lines } = lay(context, context.map((_, i) => 20_000 >> i || 1), 512);
  assert.ok(x.ticks.length <= 9);
  assert.equal(lines.xs[0].length, 15);
});

test("the length that is set is marked and carries its number", () => {
  const { points, values } = lay([512, 3000, 4096], [1200, 205, 150], 3000);
  assert.deepEqual(points.mark, ["circle", "diamond", "circle"]);
  assert.deepEqual(values.words, ["205"]);
  assert.equal(values.x[0], points.x[1]);
});

test("the number has room to the right even of the last point", () => {
  const { x, values } = lay([512, 1024, 2048, 131_072], [900, 450, 225, 3], 131_072);
  assert.ok(x.end - values.x[0] > 0.1 * (x.end - x.start));
});

test("a length that fits nobody is left out, and nothing at all still has an axis", () => {
  const some = lay([512, 1024], [3, 0], 1024);
  assert.equal(some.points.x.length, 1);
  assert.deepEqual(some.values.words, []);
  assert.deepEqual(lay([512], [0], 512).y.ticks, [0, 1]);
});

test("every value lies inside the axes", () => {
  const { x, y, points } = lay([1, 512, 100_000], [450_224, 879, 4], 1);
  points.x.forEach((each) => assert.ok(each > x.start && each < x.end));
  points.y.forEach((each) => assert.ok(each > y.start && each < y.end));
});
