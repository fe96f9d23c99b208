// Requests to Python on the server: two Bokeh models that the websocket keeps in step (app/main.py).

import { hasModel, model } from "./figure.js";

export class ServerChannel {
  constructor(onState) {
    this._waiting = new Map();
    this._next = 1;
    this._open(onState);
  }

  // The session's document comes over the websocket, beside the page.
  async _open(onState) {
    while (!hasModel("channel.response")) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const answers = model("channel.response");
    answers.properties.data.change.connect(() => {
      const { id, response } = JSON.parse(answers.data.json[0]);
      this._waiting.get(id)?.(response);
      this._waiting.delete(id);
    });
    onState({ state: "ready" });
  }

  // Python on the server imports what is installed there, or says that it is not.
  async install() {}

  async ask(request) {
    const sent = { ...request };
    if (sent.data instanceof Uint8Array) {
      sent.data = undefined;
      sent.base64 = await toBase64(request.data);
    }
    return new Promise((resolve) => {
      const id = this._next++;
      this._waiting.set(id, resolve);
      model("channel.request").data = { json: [JSON.stringify({ id, request: sent })] };
    });
  }
}

function toBase64(bytes) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result.slice(reader.result.indexOf(",") + 1));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(new Blob([bytes]));
  });
}
