// Fills the figure "timeline" (app/frontend/timeline.py) once a recording, and moves the playhead over it.

import { scheme } from "./colours.js";
import { model, setData, setGlyph } from "./figure.js";
import { pageData } from "./page_data.js";

const RARE = new Set(["copy", "swap", "evict"]); // marks whose lanes are there only when used
const ROOM = 0.14; // above the middle of the uppermost lane

const PARTS = ["real", "reserved", "internal", "external", "cached", "usable"];

export class Timeline {
  // place: holds the figure; playhead: laid over it; onSeek(frame, dragging): the pointer asks for a frame.
  constructor(place, playhead, onSeek) {
    this._place = place;
    this._playhead = playhead;
    this._steps = 1;
    this._at = 0;
    this._width = 0;
    this._marks = null; // frames by kind
    this._colours = null;
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
    this._marks = recording.marks;
    let top = 0;
    for (const [mark, [, lane]] of Object.entries(pageData.marks)) {
      const used = this._marks[mark].length > 0;
      if (RARE.has(mark)) {
        document.querySelector(`[data-mark="${mark}"]`).hidden = !used;
      }
      top = used || !RARE.has(mark) ? Math.max(top, lane) : top;
    }
    plot.y_range.setv({ start: 0, end: top + ROOM });
    this._drawMarks();
  }

  _drawMarks() {
    const drawn = { step: [], lane: [], marker: [], colour: [], width: [] };
    for (const [mark, [marker, lane]] of Object.entries(pageData.marks)) {
      for (const step of this._marks[mark]) {
        drawn.step.push(step);
        drawn.lane.push(lane);
        drawn.marker.push(marker);
        drawn.colour.push(this._colours[mark]);
        drawn.width.push(marker === "x" ? 2 : 1);
      }
    }
    setData("timeline.marks", drawn);
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
    this._colours = colours;
    if (this._marks) {
      this._drawMarks();
    }
  }
}
