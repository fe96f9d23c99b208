// The state of the page: a plain object; whoever draws says which keys it draws from.

export function createState(initial) {
  const values = { ...initial };
  const listeners = [];
  return {
    get(key) {
      return values[key];
    },
    // Calls `draw(values)` whenever one of `keys` has changed, in the order of registration.
    on(keys, draw) {
      listeners.push({ keys, draw });
    },
    set(patch) {
      const changed = Object.keys(patch).filter((key) => !Object.is(values[key], patch[key]));
      if (!changed.length) {
        return;
      }
      Object.assign(values, patch);
      for (const { keys, draw } of listeners) {
        if (keys.some((key) => changed.includes(key))) {
          draw(values);
        }
      }
    },
  };
}
