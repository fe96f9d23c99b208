// Keys of the page; ignored while typing and while a dialog is open.

function isTyping(target) {
  return target.closest?.("input:not([type=range]):not([type=radio]):not([type=checkbox]), textarea, select, [contenteditable]");
}

// Keys that the focused element itself answers to.
function isTaken(event) {
  const { target, key } = event;
  if (target.matches?.("button, summary, a") && key === " ") {
    return true;
  }
  const arrows = ["ArrowLeft", "ArrowRight", "Home", "End"];
  return arrows.includes(key) && target.matches?.("input, [role=tab]") && !event.shiftKey;
}

// actions: {play, step(±1), event(±1), start, end, speed(±1), tab(index), unpin, help}; onSimulate() tells
// whether the transport is on the screen.
export function listenToKeys(actions, onSimulate) {
  const transport = {
    " ": () => actions.play(),
    ArrowLeft: (event) => (event.shiftKey ? actions.event(-1) : actions.step(-1)),
    ArrowRight: (event) => (event.shiftKey ? actions.event(1) : actions.step(1)),
    Home: () => actions.start(),
    End: () => actions.end(),
    "[": () => actions.speed(-1),
    "]": () => actions.speed(1),
  };
  const page = {
    ...Object.fromEntries([1, 2, 3, 4, 5].map((key) => [key, () => actions.tab(key - 1)])),
    "?": () => actions.help(),
    Escape: () => actions.unpin(),
  };
  document.addEventListener("keydown", (event) => {
    const modified = event.ctrlKey || event.metaKey || event.altKey;
    if (modified || event.defaultPrevented || document.querySelector("dialog[open]") || isTyping(event.target)) {
      return;
    }
    const act = page[event.key] ?? (onSimulate() && !isTaken(event) ? transport[event.key] : undefined);
    if (act) {
      event.preventDefault();
      act(event);
    }
  });
}
