// Python's worker, started while the page is still being read (app/frontend/page.py puts this module first): the
// browser opens a worker only between two tasks of the page, so one that is asked for later waits for all of them.

const heard = []; // what it said before somebody listened: [type, event]
let listener = (...said) => heard.push(said);

function start() {
  try {
    const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
    worker.addEventListener("message", (event) => listener("message", event));
    worker.addEventListener("error", (event) => {
      event.preventDefault();
      listener("error", event);
    });
    return worker;
  } catch (error) {
    return error;
  }
}

// The worker, or why there is none.
export const worker = start();

// Tells all that the worker has said and says: onEvent("message" | "error", event).
export function listen(onEvent) {
  listener = onEvent;
  heard.splice(0).forEach((said) => onEvent(...said));
}
