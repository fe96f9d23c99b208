// What follows the playhead at a distance, so that in quick motion it moves pictures only: words and tables show
// the frame at rest, counters and the waste bar the frame at a glance.

const REST_MS = 250; // at most one change of the words in so many ms while frames come by themselves or by keys
const PAUSE_MS = 120; // a dragged playhead that stands so long is at rest
const PATIENCE_MS = 1500; // and so long after the last words come the next, pause or not: they cost three frames of a drag
const GLANCE_MS = 48; // a dragged playhead's counters: every third frame of a screen of 60 Hz

// Keeps the state's `key` at its "frame". wait(now − the last change) is how many ms to wait for it: none if 0 or
// less; it is asked again at each change of the frame.
function follow(state, key, wait) {
  let changed = -Infinity;
  let timer = 0;
  const settle = () => {
    clearTimeout(timer);
    timer = 0;
    changed = performance.now();
    state.set({ [key]: state.get("frame") });
  };
  state.on(["recording"], settle);
  state.on(["frame"], () => {
    const left = wait(performance.now() - changed);
    clearTimeout(timer);
    if (left > 0) {
      timer = setTimeout(settle, left);
    } else {
      settle();
    }
  });
  // The end of a drag is the playhead's rest.
  state.on(["dragging"], ({ dragging }) => dragging || settle());
  settle();
}

// Keeps the state's "rest" and "glance" behind its "frame".
export function followFrame(state) {
  const dragged = () => state.get("dragging");
  follow(state, "rest", (since) => (dragged() ? Math.min(PAUSE_MS, PATIENCE_MS - since) : REST_MS - since));
  follow(state, "glance", (since) => (dragged() ? GLANCE_MS - since : 0));
}
