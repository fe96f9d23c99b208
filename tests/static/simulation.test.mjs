import assert from "node:assert/strict";
import test from "node:test";
import { setTimeout as passed } from "node:timers/promises";

// The page and its worker, as far as the modules behind Simulation look at them.
const settings = (seed, mode = "paged") => ({ seed, mode });
const columns = { steps: 1, mode: "paged", num_blocks: 4, block_size: 4, capacity: 16, events: { kind: [] } };
const answered = (of) => ({ kind: "simulate", error: null, settings: of, sources: { recording: columns }, notices: [] });
const data = { transport: "worker", texts: { en: {}, zh: {} }, schemes: {}, requests: {}, responses: [answered(settings(0))] };
globalThis.document = {
  getElementById: (id) => (id === "page-data" ? { textContent: JSON.stringify(data) } : null),
};
let worker;
globalThis.Worker = class extends EventTarget {
  asked = [];
  constructor() {
    super();
    worker = this;
  }
  postMessage({ id, request }) {
    this.asked.push({ id, settings: request.settings });
  }
  // Answers the request made `at`-th.
  answer(at) {
    const { id, settings: of } = this.asked[at];
    this.dispatchEvent(new MessageEvent("message", { data: { id, response: answered(of) } }));
  }
};
const { startBackend } = await import("../../static/backend.js");
const { Simulation } = await import("../../static/simulation.js");
startBackend(() => {});
await passed(20);

async function opened() {
  await passed(300); // whatever the test before still asks for
  worker.asked = [];
  const shown = [];
  const simulation = new Simulation({
    onShow: (recording, _, response) => shown.push([recording.settings.seed, Boolean(response)]),
    onOther: ({ settings: { mode } }) => shown.push(mode),
    onMissing: () => shown.push("missing"),
    onError: (error) => shown.push(error),
  });
  simulation.ready = true;
  return { simulation, shown, seeds: () => worker.asked.map(({ settings: { seed } }) => seed) };
}

test("a change is asked for at once, and of those made meanwhile only the last, whose answer alone is shown", async () => {
  const { simulation, shown, seeds } = await opened();
  [1, 2, 3].forEach((seed) => simulation.want(settings(seed)));
  await passed(0);
  assert.deepEqual(seeds(), [1]);
  worker.answer(0);
  await passed(0);
  assert.deepEqual(seeds(), [1, 3]);
  assert.deepEqual(shown, []);
  worker.answer(1);
  await passed(0);
  assert.deepEqual(shown, [[3, true]]);
});

test("the other allocator's run is made after a pause, and a change is not kept waiting by it", async () => {
  const { simulation, shown, seeds } = await opened();
  simulation.want(settings(1));
  await passed(0);
  worker.answer(0);
  await passed(50);
  simulation.want(settings(2));
  await passed(0);
  assert.deepEqual(seeds(), [1, 2]);
  worker.answer(1);
  await passed(300);
  assert.deepEqual(worker.asked[2].settings, settings(2, "contiguous"));
  worker.answer(2);
  await passed(0);
  assert.deepEqual(shown, [[1, true], [2, true], "contiguous"]);
});

test("what was asked ahead is shown once Python is there, and asked only once", async () => {
  const { simulation, shown, seeds } = await opened();
  simulation.ready = false;
  const words = settings(7);
  simulation.askAhead(words);
  simulation.want(settings(7), words);
  await passed(0);
  assert.deepEqual(shown, ["missing"]);
  simulation.ready = true;
  simulation.want(settings(7), words);
  worker.answer(0);
  await passed(0);
  assert.deepEqual(seeds(), [7]);
  assert.deepEqual(shown, ["missing", [7, true]]);
});
