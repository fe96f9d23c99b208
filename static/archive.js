// Reads a zip archive (stored or deflated members, no zip64) with the browser's own decompressor.

const END_OF_DIRECTORY = 0x06054b50;
const DIRECTORY_ENTRY = 0x02014b50;
const STORED = 0;
const DEFLATED = 8;

async function inflate(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function findDirectory(view) {
  // The end record is 22 bytes and may be followed by a comment of at most 65535.
  const earliest = Math.max(0, view.byteLength - 22 - 65535);
  for (let at = view.byteLength - 22; at >= earliest; at--) {
    if (view.getUint32(at, true) === END_OF_DIRECTORY) {
      return { count: view.getUint16(at + 10, true), start: view.getUint32(at + 16, true) };
    }
  }
  throw new Error("not a zip archive: it has no central directory");
}

/**
 * The files of an archive.
 * @param {ArrayBuffer} buffer the whole archive
 * @returns {Promise<Array<[string, Uint8Array]>>} path and content, in the archive's order
 */
export async function readArchive(buffer) {
  const view = new DataView(buffer);
  const names = new TextDecoder();
  const { count, start } = findDirectory(view);
  const files = [];
  let at = start;
  for (let entry = 0; entry < count; entry++) {
    if (view.getUint32(at, true) !== DIRECTORY_ENTRY) {
      throw new Error(`damaged zip archive: no directory entry at byte ${at}`);
    }
    const method = view.getUint16(at + 10, true);
    const size = view.getUint32(at + 20, true);
    const nameLength = view.getUint16(at + 28, true);
    const rest = view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
    const local = view.getUint32(at + 42, true);
    const name = names.decode(new Uint8Array(buffer, at + 46, nameLength));
    // The local header repeats the name; its extra field has a length of its own.
    const data = local + 30 + view.getUint16(local + 26, true) + view.getUint16(local + 28, true);
    const bytes = new Uint8Array(buffer, data, size);
    if (method !== STORED && method !== DEFLATED) {
      throw new Error(`${name}: zip method ${method} is neither stored nor deflated`);
    }
    if (!name.endsWith("/")) {
      files.push([name, method === STORED ? bytes : inflate(bytes)]);
    }
    at += 46 + nameLength + rest;
  }
  return Promise.all(files.map(async ([name, bytes]) => [name, await bytes]));
}
