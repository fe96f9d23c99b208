// The frame at rest: what words and tables follow, so that a playhead in quick motion moves pictures only.

const REST_MS = 250; // at most one change of the words in so many ms

// Keeps the state's "rest" at its "frame": at once when frames come slowly, else within REST_MS of the last.
export function followFrame(state) {
  let changed = -Infinity;
  let timer = 0;
  const settle = () => {
    clearTimeout(timer);
    timer = 0;
    changed = performance.now();
    state.set({ rest: state.get("frame") });
  };
  state.on(["recording"], settle);
  state.on(["frame"], () => {
    const left = changed + REST_MS - performance.now();
    if (left <= 0) {
      settle();
    } else {
      timer ||= setTimeout(settle, left);
    }
  });
  settle();
}
