// One focus for the whole page: a request ("r5") or a block ("b12"). Hover previews, click pins, Esc lets go.

const FOCUS = /^([rb])(\d{1,7})$/;

// A focus as it may come from an address; null if it is none.
export const readFocus = (word) => (FOCUS.test(word ?? "") ? word : null);

// What a focus lights in a frame: {seqs: Set, block?}; null when nothing is in focus.
export function litBy(focus, recording, frame) {
  const found = FOCUS.exec(focus ?? "");
  if (!found) {
    return null;
  }
  const number = Number(found[2]);
  if (found[1] === "r") {
    return { seqs: new Set([number]) };
  }
  const seqs = new Set();
  recording.spans(frame, (row, block) => {
    if (block === number) {
      seqs.add(row.seq);
    }
  });
  return { seqs, block: number };
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
