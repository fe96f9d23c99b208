// Fills the figure "timeline" (app/frontend/timeline.py) once a recording, and moves the playhead over it.

import { scheme } from "./colours.js";
import { model, setData, setGlyph } from "./figure.js";
import { MARKS } from "./recording.js";

const MARK_NAMES = [...new Set(Object.values(MARKS))];
const RARE = { copy: 1.72, swap: 1.92, evict: 2.12 }; // lanes of app/frontend/timeline.py that are there only when used
const TOP = 1.66; // and what lies above the others

const PARTS = ["real", "reserved", "internal", "external", "cached", "usable"];

export class Timeline {
  // place: holds the figure; playhead: laid over it; onSeek(frame, dragging): the pointer asks for a frame.
  constructor(place, playhead, onSeek) {
    this._place = place;
    this._playhead = playhead;
    this._steps = 1;
    this._at = 0;
    this._width = 0;
    new ResizeObserver(([{ contentRect }]) => {
      this._width = contentRect.width;
      this.moveTo(this._at);
    }).observe(place);
    const seek = (event, dragging) => {
      const box = place.getBoundingClientRect();
      const share = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
      onSeek(Math.round(share * this._steps), dragging);
    };
    place.addEventListener("pointerdown", (event) => {
      if (event.button === 0) {
        place.setPointerCapture(event.pointerId);
        seek(event, true);
      }
    });
    place.addEventListener("pointermove", (event) => {
      if (place.hasPointerCapture(event.pointerId)) {
        seek(event, true);
      }
    });
    place.addEventListener("pointerup", (event) => seek(event, false));
  }

  show(recording) {
    const { frames } = recording.columns;
    this._steps = Math.max(1, recording.steps);
    const stack = { step: frames.real.map((_, t) => t), zero: frames.real.map(() => 0) };
    let below = stack.zero;
    for (const part of PARTS) {
      below = (frames[part] ?? stack.zero).map((slots, t) => below[t] + slots / recording.capacity);
      stack[part] = below;
    }
    const plot = model("timeline");
    plot.height = this._place.clientHeight || plot.height;
    plot.x_range.setv({ start: 0, end: this._steps });
    setData("timeline.stack", stack);
    let top = TOP;
    for (const [mark, steps] of Object.entries(recording.marks)) {
      setData(`timeline.${mark}`, { step: steps });
      if (RARE[mark]) {
        top = steps.length ? RARE[mark] + 0.14 : top;
        document.querySelector(`[data-mark="${mark}"]`).hidden = !steps.length;
      }
    }
    plot.y_range.setv({ start: 0, end: top });
  }

  moveTo(t) {
    this._at = t;
    this._width ||= this._place.clientWidth;
    this._playhead.style.transform = `translateX(${(t / this._steps) * this._width}px)`;
  }

  recolour(theme) {
    const colours = scheme(theme);
    for (const part of PARTS) {
      setGlyph(`timeline.${part}.glyph`, { fill_color: colours[part], hatch_color: colours[part] });
    }
    for (const mark of MARK_NAMES) {
      setGlyph(`timeline.${mark}.glyph`, { fill_color: colours[mark], line_color: colours[mark] });
    }
  }
}
