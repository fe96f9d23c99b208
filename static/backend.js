// The page's way to Python: one function for both transports.
//
//   backend.request(kind, payload, {onProgress, signal}) -> Promise<response>
//   (an AbortSignal whose reason is KEEP resolves with what has been measured so far, if that is anything)
//   backend.install(name, url, onProgress) -> Promise, once Python can import that package
//
// Runs a job to its end: while a response carries `more`, onProgress(response) is told and the job continued.
// When `signal` aborts, the job is cancelled and the promise rejects with an AbortError.

import { pageData } from "./page_data.js";

export const KEEP = "keep"; // why a job is stopped of which what it has so far is wanted

// Only one of the two is opened: a server's page has no worker.
const CHANNELS = {
  server: async (onState) => new (await import("./server_channel.js")).ServerChannel(onState),
  worker: async (onState) => new (await import("./worker_channel.js")).WorkerChannel(onState),
};
let channel = null; // a promise

// Opens the way to Python; onState is told how that goes (see worker_channel.js).
export function startBackend(onState) {
  channel = CHANNELS[pageData.transport](onState);
}

const ask = async (asked) => (await channel).ask(asked);

async function request(kind, payload, { onProgress, signal } = {}) {
  signal?.throwIfAborted();
  let response = await ask({ kind, ...payload });
  while (response.more !== undefined && response.more !== null) {
    if (signal?.aborted && signal.reason === KEEP) {
      return ask({ kind: "stop", job: response.more });
    }
    if (signal?.aborted) {
      await ask({ kind: "cancel", job: response.more });
      break;
    }
    onProgress?.(response);
    response = await ask({ kind: "continue", job: response.more });
  }
  if (signal?.reason !== KEEP) {
    signal?.throwIfAborted();
  }
  return response;
}

const install = async (name, url, onProgress) => (await channel).install(name, url, onProgress);

export const backend = { request, install };
