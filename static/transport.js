// Playback: the only thing that moves the playhead by itself, and only after the user has asked.

import { say, text } from "./text.js";

export class Transport {
  // state keys: recording, frame, playing, dragging, speed.
  constructor(state) {
    this._state = state;
    const find = (id) => document.getElementById(id);
    this._slider = find("frame");
    this._words = find("step-words");
    this._short = find("step-short");
    this._play = find("play");
    this._speed = find("speed");
    this._due = 0;

    const click = (id, act) => find(id).addEventListener("click", act);
    click("play", () => this.toggle());
    click("to-start", () => this.seek(0));
    click("to-end", () => this.seek(this._last));
    click("step", () => this.stepBy(1));
    click("step-back", () => this.stepBy(-1));
    click("next-event", () => this.jump(1));
    click("prev-event", () => this.jump(-1));
    this._speed.addEventListener("change", () => state.set({ speed: Number(this._speed.value) }));
    this._slider.addEventListener("input", () => this.seek(Number(this._slider.value), true));
    this._slider.addEventListener("change", () => state.set({ dragging: false }));
  }

  get _last() {
    return this._state.get("recording").steps;
  }

  // Goes to frame t and pauses; `dragging` keeps the log silent until the pointer is released.
  seek(t, dragging = false) {
    const frame = Math.min(this._last, Math.max(0, Math.round(t)));
    this._state.set({ frame, playing: false, dragging });
  }

  stepBy(steps) {
    this.seek(this._state.get("frame") + steps);
  }

  jump(direction) {
    const found = this._state.get("recording").nextMarked(this._state.get("frame"), direction);
    this.seek(found ?? (direction > 0 ? this._last : 0));
  }

  // One choice slower (−1) or faster (1).
  changeSpeed(direction) {
    const { options, selectedIndex } = this._speed;
    this._speed.selectedIndex = Math.min(options.length - 1, Math.max(0, selectedIndex + direction));
    this._state.set({ speed: Number(this._speed.value) });
  }

  toggle() {
    if (this._state.get("playing")) {
      this._state.set({ playing: false });
      return;
    }
    const atEnd = this._state.get("frame") >= this._last;
    this._state.set({ playing: true, dragging: false, ...(atEnd && { frame: 0 }) });
    this._due = performance.now() + 1000 / this._state.get("speed");
    requestAnimationFrame((now) => this._tick(now));
  }

  _tick(now) {
    if (!this._state.get("playing")) {
      return;
    }
    if (now >= this._due) {
      const interval = 1000 / this._state.get("speed");
      // A hidden tab or a slow machine leaves no debt of steps.
      this._due = Math.max(this._due + interval, now);
      const frame = Math.min(this._state.get("frame") + 1, this._last);
      this._state.set({ frame, playing: frame < this._last });
    }
    requestAnimationFrame((at) => this._tick(at));
  }

  // Puts the slider's thumb at a frame.
  moveTo(frame, steps) {
    if (this._slider.max !== String(steps)) {
      this._slider.max = steps;
    }
    this._slider.value = frame;
  }

  // Says at which step the playhead stands.
  tell(step, steps) {
    const words = text("page.frame.value", { step, steps });
    this._slider.setAttribute("aria-valuetext", words);
    say(this._words, words);
    say(this._short, text("page.frame.short", { step, steps }));
  }

  // Makes the button the one that pauses or the one that plays.
  offer(playing) {
    const label = text(playing ? "page.go.pause" : "page.go.play");
    this._play.setAttribute("aria-label", label);
    this._play.title = label;
    this._play.dataset.label = playing ? "page.go.pause" : "page.go.play";
    this._play.querySelector("use").setAttribute("href", playing ? "#i-pause" : "#i-play");
  }
}
