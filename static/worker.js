// The Python side of the page: a module worker that boots the interpreter and answers requests.
//
// to the page:   {type: "progress", stage: "interpreter" | "core", done, total}   in files
//                {type: "ready"} | {type: "failed", message}
//                {id, response}, or {id, response: null, failed: message} if the core raised
//                {id, progress: {done, total}}   in bytes, while a package comes in; total is 0 if unknown
// from the page: {id, request}; request.data may be text or a Uint8Array. Requests sent before "ready" wait.
//                {id, wheel: {name, url}}   answered with {id, response: {}} once that package can be imported

import { readImage } from "./memory_image.js";
import { installWheel } from "./wheel.js";

const LOADER = new URL("./pyodide/pyodide.mjs", import.meta.url);
const FOLDER = new URL("./", LOADER).href;
const GLUE = new URL("./pyodide/pyodide.asm.mjs", import.meta.url);
const MACHINE_CODE = new URL("./pyodide/pyodide.asm.wasm", import.meta.url);
const INTERPRETER = new URL("./python/interpreter.json", import.meta.url);
const IMAGE = new URL("./python/image.bin", import.meta.url);
// Where Python looks for them (app/site/python_parts.py) -> where they are.
const ARCHIVES = {
  "/lib/core.zip": new URL("./python/core.zip", import.meta.url),
  "/lib/rest_of_library.zip": new URL("./python/rest.zip", import.meta.url),
};
const EMPTY_ZIP = Uint8Array.of(0x50, 0x4b, 5, 6, ...new Array(18).fill(0));

function report(stage, done, total) {
  self.postMessage({ type: "progress", stage, done, total });
}

async function fetchGood(url) {
  const answer = await fetch(url);
  if (!answer.ok) {
    throw new Error(`${url.pathname}: HTTP status ${answer.status}`);
  }
  return answer;
}

// WebAssembly is compiled while it streams in; a host that sends another type for it is good enough too.
async function compile() {
  const answer = await fetchGood(MACHINE_CODE);
  const typed = (answer.headers.get("content-type") ?? "").startsWith("application/wasm");
  return typed ? WebAssembly.compileStreaming(answer) : WebAssembly.compile(await answer.arrayBuffer());
}

// Pyodide fetches its WebAssembly and a library when it gets there. The one has long been compiled by then, of the
// other all that is wanted is in the image: so both are given to it, and neither is fetched by it.
function provide(machineCode) {
  const given = new Map([
    [MACHINE_CODE.href, () => new Response()],
    [`${FOLDER}python_stdlib.zip`, () => new Response(EMPTY_ZIP)],
  ]);
  const fetchOther = self.fetch;
  self.fetch = (what, options) => {
    const provided = given.get(String(what));
    return provided ? Promise.resolve(provided()) : fetchOther.call(self, what, options);
  };
  return new Promise((instantiated, failed) => {
    WebAssembly.instantiateStreaming = async (_, imports) => {
      try {
        const { image, module } = await machineCode;
        const instance = await WebAssembly.instantiate(module, imports);
        // Before anything has run in it: what the image leaves out because the file brings it along.
        instantiated(new Int8Array(instance.exports.memory.buffer).slice(0, image.ownData));
        return { instance, module };
      } catch (error) {
        failed(error); // Pyodide only logs it, and waits for ever
        throw error;
      }
    };
  });
}

// An import cannot wait for a promise; a worker may fetch synchronously. Returns "" or why it failed.
function fetchNow(FS, path) {
  try {
    const request = new XMLHttpRequest();
    request.open("GET", ARCHIVES[path], false);
    request.responseType = "arraybuffer";
    request.send();
    if (request.status !== 200) {
      return `${ARCHIVES[path].pathname}: HTTP status ${request.status}`;
    }
    FS.writeFile(path, new Uint8Array(request.response));
    return "";
  } catch (error) {
    return String(error?.message ?? error);
  }
}

// Tells of a part once it is there.
function counted(stage, total, parts) {
  let done = 0;
  report(stage, 0, total);
  return parts.map((part) =>
    part.then((value) => {
      done += 1;
      report(stage, done, total);
      return value;
    }),
  );
}

async function boot() {
  // The image first: it is unpacked by this thread while others compile.
  const [read] = counted("core", 1, [fetchGood(IMAGE).then(readImage)]);
  const [loader, glue, compiled] = counted("interpreter", 3, [import(LOADER.href), import(GLUE.href), compile()]);
  const info = fetchGood(INTERPRETER).then((answer) => answer.json());
  const own = provide(Promise.all([read, compiled]).then(([image, module]) => ({ image, module })));
  const [{ loadPyodide }, { default: createModule }, image] = await Promise.all([loader, glue, read, compiled, info]);
  const booted = loadPyodide({
    indexURL: FOLDER,
    packageBaseUrl: FOLDER,
    lockFileContents: { info: await info, packages: {} },
    async createPyodideModule(settings) {
      const module = await createModule(settings);
      image.restore(module.HEAP8, await own);
      return module;
    },
    _loadSnapshot: image.header, // its memory is in place by then
  });
  python = await Promise.race([own.then(() => booted), booted]);
  const door = python.globals.get("door");
  door.connect((path) => fetchNow(python.FS, path));
  self.postMessage({ type: "ready" });
  return door;
}

let python = null;
const opened = boot();
opened.catch((error) => self.postMessage({ type: "failed", message: String(error?.message ?? error) }));

function answer(door, request) {
  // Left undefined if there is none: that is what becomes None in Python.
  const { data, ...asked } = request;
  return JSON.parse(door.answer(JSON.stringify(asked), data));
}

self.addEventListener("message", async ({ data: { id, request, wheel } }) => {
  let door;
  try {
    door = await opened;
  } catch {
    return; // "failed" has been sent
  }
  try {
    if (wheel) {
      const tell = (done, total) => self.postMessage({ id, progress: { done, total } });
      await installWheel(python, wheel, tell);
      self.postMessage({ id, response: {} });
    } else {
      self.postMessage({ id, response: answer(door, request) });
    }
  } catch (error) {
    console.error(error);
    const lines = String(error?.message ?? error).trim().split("\n");
    self.postMessage({ id, response: null, failed: lines.at(-1) });
  }
});
