// One focus for the whole page: a request ("r5"), one of its sequences ("r5.2"), the operator's "prefix", the "null"
// block, a block ("b12"), or a node of the prefix cache ("n3"). Hover previews, click pins, Esc lets go.

const FOCUS = /^(?:r\d{1,7}(?:\.\d{1,4})?|prefix|null|b(\d{1,7})|n(\d{1,7}))$/;

// A focus as it may come from an address; null if it is none.
export const readFocus = (word) => (FOCUS.test(word ?? "") ? word : null);

// What a focus lights in a frame: {seqs: Set, block?, node?, blocks?: Set of those of the node}; null when nothing is
// in focus.
export function litBy(focus, recording, frame) {
  const found = FOCUS.exec(focus ?? "");
  if (!found) {
    return null;
  }
  if (found[2] !== undefined) {
    const node = recording.prefixes?.at(frame.t).get(Number(found[2]));
    const blocks = new Set(node?.blocks);
    const users = frame.rows.filter((row) => row.blocks?.some((each) => blocks.has(each)));
    return { seqs: new Set(users.map(({ seq }) => seq)), node: Number(found[2]), blocks };
  }
  if (found[1] === undefined) {
    return { seqs: recording.named(focus) };
  }
  const block = Number(found[1]);
  return { seqs: new Set(recording.holders(frame, block).map(({ seq }) => seq)), block };
}

// Follows pointer and keyboard on everything that carries data-focus. Writes state keys pinned and preview.
export function followFocus(state, root = document) {
  const named = (event) => event.target.closest?.("[data-focus]")?.dataset.focus ?? null;
  root.addEventListener("pointerover", (event) => {
    if (event.pointerType === "mouse") {
      state.set({ preview: named(event) });
    }
  });
  root.addEventListener("click", (event) => {
    const focus = named(event);
    if (focus) {
      togglePin(state, focus);
    }
  });
}

export function togglePin(state, focus) {
  state.set({ pinned: state.get("pinned") === focus ? null : focus, preview: null });
}
