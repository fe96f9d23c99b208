// Reads the image of the interpreter's memory that app/site/memory_image.py writes.

const NUMBERS = 3; // before the header: its length, the end of the WebAssembly file's own data, how many runs

/**
 * An image that is on its way.
 * @param {Response} answer the image, gzipped
 * @returns {Promise<{header: Uint8Array, ownData: number, restore: (heap: Int8Array, own: Uint8Array) => void}>}
 *   header: what Pyodide's loader reads; ownData: bytes of a fresh memory that restore needs; restore: makes `heap`
 *   what it was when the image was taken, `own` being those bytes
 */
export async function readImage(answer) {
  const plain = answer.body.pipeThrough(new DecompressionStream("gzip"));
  const buffer = await new Response(plain).arrayBuffer();
  const [length, ownData, count] = new Uint32Array(buffer, 0, NUMBERS);
  const header = new Uint8Array(buffer, 4 * NUMBERS, length);
  const places = new Uint32Array(buffer, 4 * NUMBERS + length, 2 * count);
  const content = 4 * NUMBERS + length + 8 * count;
  return {
    header,
    ownData,
    restore(heap, own) {
      heap.fill(0);
      heap.set(own);
      let from = content;
      for (let i = 0; i < places.length; i += 2) {
        heap.set(new Int8Array(buffer, from, places[i + 1]), places[i]);
        from += places[i + 1];
      }
    },
  };
}
