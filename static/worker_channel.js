// Requests to Python in this browser: static/worker.js tells what goes back and forth.

import { listen, worker } from "./python_worker.js";

export class WorkerChannel {
  // onState({state: "loading" | "ready" | "failed", stage?, done?, total?, reason?})
  constructor(onState) {
    this._waiting = new Map();
    this._next = 1;
    this._failed = null;
    this._onState = onState;
    if (worker instanceof Error) {
      this._fail(worker.message);
      return;
    }
    listen((type, event) => {
      if (type === "message") {
        this._receive(event.data);
      } else {
        this._fail(event.message || "worker.js");
      }
    });
  }

  _receive(data) {
    if (this._failed !== null) {
      return; // what was already on its way
    }
    if (data.type === "progress") {
      this._onState({ state: "loading", stage: data.stage, done: data.done, total: data.total });
    } else if (data.type === "ready") {
      this._onState({ state: "ready" });
    } else if (data.type === "failed") {
      this._fail(data.message);
    } else if (data.progress) {
      this._waiting.get(data.id)?.onProgress(data.progress);
    } else {
      const waiting = this._waiting.get(data.id);
      this._waiting.delete(data.id);
      if (data.response) {
        waiting?.resolve(data.response);
      } else {
        waiting?.reject(new Error(data.failed));
      }
    }
  }

  _fail(reason) {
    this._failed = reason;
    worker.terminate?.();
    for (const { reject } of this._waiting.values()) {
      reject(new Error(reason));
    }
    this._waiting.clear();
    this._onState({ state: "failed", reason });
  }

  ask(request) {
    // A file moves to the worker rather than being copied.
    const moved = request.data instanceof Uint8Array ? [request.data.buffer] : [];
    return this._send({ request }, moved);
  }

  // Resolves once Python can import the package `name`, whose wheel lies at `url`; onProgress({done, total}).
  install(name, url, onProgress) {
    return this._send({ wheel: { name, url } }, [], onProgress);
  }

  _send(message, moved, onProgress = () => {}) {
    if (this._failed !== null) {
      return Promise.reject(new Error(this._failed));
    }
    return new Promise((resolve, reject) => {
      const id = this._next++;
      this._waiting.set(id, { resolve, reject, onProgress });
      worker.postMessage({ id, ...message }, moved);
    });
  }
}
