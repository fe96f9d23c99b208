// Puts a package into the running interpreter: fetches its wheel, unpacks it, imports it once.

import { readArchive } from "./archive.js";

const SITE_PACKAGES = "/lib/python3.14/site-packages";
const NOT_RUN = /(^|\/)tests?\/|\.(pyi|pxd|h|c|a|f90)$/; // half of numpy's files are never imported

// The content of `url`, with tell(done, total) as it comes in; total is 0 where the host does not say.
async function fetchBytes(url, tell) {
  const answer = await fetch(url);
  if (!answer.ok) {
    throw new Error(`${new URL(url).pathname}: HTTP status ${answer.status}`);
  }
  // Of an encoded answer the length is not that of what is read here.
  const total = answer.headers.get("content-encoding") ? 0 : Number(answer.headers.get("content-length"));
  const pieces = [];
  let done = 0;
  for (const reader = answer.body.getReader(); ; ) {
    const { done: over, value } = await reader.read();
    if (over) {
      return new Blob(pieces).arrayBuffer();
    }
    pieces.push(value);
    done += value.length;
    tell(done, total);
  }
}

export async function installWheel(python, { name, url }, tell) {
  if (python.runPython(`__import__("importlib.util").util.find_spec("${name}") is not None`)) {
    return;
  }
  const files = await readArchive(await fetchBytes(url, tell));
  for (const [path, bytes] of files) {
    if (!NOT_RUN.test(path)) {
      const target = `${SITE_PACKAGES}/${path}`;
      python.FS.mkdirTree(target.slice(0, target.lastIndexOf("/")));
      python.FS.writeFile(target, bytes, { canOwn: true });
    }
  }
  python.pyimport("importlib").invalidate_caches();
  python.pyimport(name);
}
