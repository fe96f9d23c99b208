import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateRawSync } from "node:zlib";

import { readArchive } from "../../static/archive.js";

// A zip with one member per entry: [name, content, method].
function zip(entries, comment = "") {
  const locals = [];
  const directory = [];
  let offset = 0;
  for (const [name, content, method] of entries) {
    const path = Buffer.from(name);
    const data = method === 8 ? deflateRawSync(content) : Buffer.from(content);
    const local = Buffer.alloc(30 + 4);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(path.length, 26);
    local.writeUInt16LE(4, 28); // an extra field, as some writers add
    const head = local.subarray(0, 30);
    const extra = local.subarray(30);
    locals.push(head, path, extra, data);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(method, 10);
    entry.writeUInt32LE(data.length, 20);
    entry.writeUInt32LE(content.length, 24);
    entry.writeUInt16LE(path.length, 28);
    entry.writeUInt32LE(offset, 42);
    directory.push(entry, path);
    offset += 30 + path.length + 4 + data.length;
  }
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(offset, 16);
  end.writeUInt16LE(comment.length, 20);
  const whole = Buffer.concat([...locals, ...directory, end, Buffer.from(comment)]);
  return whole.buffer.slice(whole.byteOffset, whole.byteOffset + whole.byteLength);
}

const text = (files) => files.map(([name, bytes]) => [name, new TextDecoder().decode(bytes)]);

test("stored and deflated members come back in the archive's order", async () => {
  const long = "block table ".repeat(1000);
  const files = await readArchive(zip([["b/长.txt", long, 8], ["a.txt", "slot", 0], ["empty", "", 0]]));
  assert.deepEqual(text(files), [["b/长.txt", long], ["a.txt", "slot"], ["empty", ""]]);
});

test("folders are left out and a comment at the end does not matter", async () => {
  const files = await readArchive(zip([["a/", "", 0], ["a/b", "1", 0]], "made by hand"));
  assert.deepEqual(text(files), [["a/b", "1"]]);
});

test("what is no archive is refused with a reason", async () => {
  await assert.rejects(readArchive(new TextEncoder().encode("<!doctype html> not found here").buffer), /not a zip archive/);
  await assert.rejects(readArchive(new ArrayBuffer(3)), /not a zip archive/);
  await assert.rejects(readArchive(zip([["a", "1", 12]])), /a: zip method 12/);
});
