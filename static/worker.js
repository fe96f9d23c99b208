// The Python side of the page: a module worker that boots the interpreter and answers requests.
//
// to the page:   {type: "progress", stage: "interpreter" | "stdlib" | "core", done, total}   in files
//                {type: "ready"} | {type: "failed", message}
//                {id, response}, or {id, response: null, failed: message} if the core raised
//                {id, progress: {done, total}}   in bytes, while a package comes in; total is 0 if unknown
// from the page: {id, request}; request.data may be text or a Uint8Array. Requests sent before "ready" wait.
//                {id, wheel: {name, url}}   answered with {id, response: {}} once that package can be imported

import { readArchive } from "./archive.js";
import { installWheel } from "./wheel.js";

const LOADER = new URL("./pyodide/pyodide.mjs", import.meta.url);
const MACHINE_CODE = new URL("./pyodide/pyodide.asm.mjs", import.meta.url);
const LIBRARY = new URL("./python/stdlib.zip", import.meta.url);
const REST_OF_LIBRARY = new URL("./python/rest.zip", import.meta.url);
const CORE = new URL("./python/core.zip", import.meta.url);

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

// Pyodide compiles its WebAssembly while it streams in, but only logs a failure and then waits for ever; and
// streaming is refused when a host sends another MIME type. So: a refusal falls back to the whole file, and a
// failure ends the boot.
function watchInstantiation(interpreterFailed) {
  const streaming = WebAssembly.instantiateStreaming;
  WebAssembly.instantiateStreaming = async (source, imports) => {
    try {
      const answer = await source;
      if (!answer.ok) {
        throw new Error(`${new URL(answer.url).pathname}: HTTP status ${answer.status}`);
      }
      const typed = (answer.headers.get("content-type") ?? "").startsWith("application/wasm");
      return typed
        ? await streaming.call(WebAssembly, answer, imports)
        : await WebAssembly.instantiate(await answer.arrayBuffer(), imports);
    } catch (error) {
      interpreterFailed(error);
      throw error;
    }
  };
}

// Pyodide fetches these two by itself; the browser tells when each has arrived.
function watchArrivals(indexURL) {
  const arrivals = new Map([
    [`${indexURL}pyodide.asm.wasm`, ["interpreter", 3, 4]],
    [LIBRARY.href, ["stdlib", 1, 1]],
  ]);
  const observer = new PerformanceObserver((list) => {
    for (const { name } of list.getEntries()) {
      if (arrivals.has(name)) {
        report(...arrivals.get(name));
      }
    }
  });
  observer.observe({ type: "resource", buffered: true });
  return observer;
}

// An import cannot wait for a promise; a worker may fetch synchronously. Returns "" or why it failed.
function fetchNow(FS, path) {
  try {
    const request = new XMLHttpRequest();
    request.open("GET", REST_OF_LIBRARY, false);
    request.responseType = "arraybuffer";
    request.send();
    if (request.status !== 200) {
      return `HTTP status ${request.status}`;
    }
    FS.writeFile(path, new Uint8Array(request.response));
    return "";
  } catch (error) {
    return String(error?.message ?? error);
  }
}

async function startInterpreter(coreFiles, placeCore) {
  const failed = new Promise((_, reject) => watchInstantiation(reject));
  const indexURL = new URL("./", LOADER).href;
  const arrivals = watchArrivals(indexURL);
  report("interpreter", 0, 4);
  const [{ loadPyodide }, { default: createPyodideModule }] = await Promise.all([
    import(LOADER.href),
    import(MACHINE_CODE.href),
  ]);
  report("interpreter", 2, 4);
  report("stdlib", 0, 1);
  const booted = loadPyodide({
    indexURL,
    packageBaseUrl: indexURL,
    createPyodideModule,
    stdLibURL: LIBRARY.href,
    lockFileContents: coreFiles.then((files) => ({
      info: JSON.parse(new TextDecoder().decode(files.get("interpreter.json"))),
      packages: {},
    })),
    fsInit: placeCore,
  });
  python = await Promise.race([failed, booted]);
  arrivals.disconnect(); // what it has not told yet would come after "ready"
  report("interpreter", 4, 4);
  return python;
}

async function boot() {
  report("core", 0, 1);
  const coreFiles = fetchGood(CORE)
    .then((answer) => answer.arrayBuffer())
    .then(readArchive)
    .then((files) => new Map(files));
  let corePath;
  python = await Promise.race([
    // A core that cannot be fetched ends the boot, though the interpreter goes on waiting for it.
    coreFiles.then(() => new Promise(() => {})),
    startInterpreter(coreFiles, async (FS, { sitePackages }) => {
      corePath = sitePackages;
      for (const [name, bytes] of await coreFiles) {
        const path = `${sitePackages}/${name}`;
        FS.mkdirTree(path.slice(0, path.lastIndexOf("/")));
        FS.writeFile(path, bytes, { canOwn: true });
      }
      report("core", 1, 1);
    }),
  ]);
  const door = python
    .pyimport("app.backend.worker")
    .open_door(`${corePath}/rest_of_library.json`, "/lib/rest_of_library.zip", (path) => fetchNow(python.FS, path));
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
