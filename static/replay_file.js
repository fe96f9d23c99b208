// A trace file that the user drops or chooses. Only its handle is kept; it is read anew for every replay.

import { text } from "./text.js";

export function sizeWords(bytes) {
  if (bytes < 1000) {
    return text("tab.replay.bytes", { n: bytes });
  }
  return bytes < 1e6
    ? text("tab.replay.kilobytes", { n: bytes / 1e3 })
    : text("tab.replay.megabytes", { n: bytes / 1e6 });
}

// onFiles([File, …]): what was dropped on `zone` or chosen with `input`, at least one.
export function takeFiles(zone, input, onFiles) {
  input.addEventListener("change", () => {
    if (input.files.length) {
      onFiles([...input.files]);
    }
    input.value = ""; // the same file may be chosen again
  });
  const isFile = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
  let depth = 0;
  const light = () => zone.classList.toggle("over", depth > 0);
  zone.addEventListener("dragenter", (event) => {
    if (isFile(event)) {
      depth++;
      light();
    }
  });
  zone.addEventListener("dragleave", (event) => {
    if (isFile(event)) {
      depth = Math.max(0, depth - 1);
      light();
    }
  });
  // A file that misses the zone must not replace the page.
  const panel = zone.closest("[role=tabpanel]");
  panel.addEventListener("dragover", (event) => {
    if (isFile(event)) {
      event.preventDefault();
      event.dataTransfer.dropEffect = "copy";
    }
  });
  panel.addEventListener("drop", (event) => {
    if (isFile(event)) {
      event.preventDefault();
      depth = 0;
      light();
      if (event.dataTransfer.files.length) {
        onFiles([...event.dataTransfer.files]);
      }
    }
  });
}
