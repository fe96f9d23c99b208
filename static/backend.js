// The page's way to Python: one function for both transports.
//
//   backend.request(kind, payload, {onProgress, signal}) -> Promise<response>
//   (an AbortSignal whose reason is KEEP resolves with what has been measured so far, if that is anything)
//   backend.install(name, url, onProgress) -> Promise, once Python can import that package
//
// Runs a job to its end: while a response carries `more`, onProgress(response) is told and the job continued.
// When `signal` aborts, the job is cancelled and the promise rejects with an AbortError.

import { pageData } from "./page_data.js";
import { ServerChannel } from "./server_channel.js";
import { WorkerChannel } from "./worker_channel.js";

export const KEEP = "keep"; // why a job is stopped of which what it has so far is wanted

let channel = null;

// Starts Python; onState is told how that goes (see worker_channel.js).
export function startBackend(onState) {
  channel = pageData.transport === "server" ? new ServerChannel(onState) : new WorkerChannel(onState);
}

async function request(kind, payload, { onProgress, signal } = {}) {
  signal?.throwIfAborted();
  let response = await channel.ask({ kind, ...payload });
  while (response.more !== undefined && response.more !== null) {
    if (signal?.aborted && signal.reason === KEEP) {
      return channel.ask({ kind: "stop", job: response.more });
    }
    if (signal?.aborted) {
      await channel.ask({ kind: "cancel", job: response.more });
      break;
    }
    onProgress?.(response);
    response = await channel.ask({ kind: "continue", job: response.more });
  }
  if (signal?.reason !== KEEP) {
    signal?.throwIfAborted();
  }
  return response;
}

const install = (name, url, onProgress) => channel.install(name, url, onProgress);

export const backend = { request, install };
