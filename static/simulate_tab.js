// The Simulate tab: which picture draws from which part of the state.

import { BeamCard } from "./beam_card.js";
import { BlockTables } from "./block_tables.js";
import { EventLog } from "./event_log.js";
import { followFocus, litBy, togglePin } from "./focus.js";
import { PoolGrid } from "./pool_grid.js";
import { PoolTip } from "./pool_tip.js";
import { Readouts } from "./readouts.js";
import { PrefixCard } from "./prefix_card.js";
import { followFrame } from "./rest.js";
import { Story } from "./story.js";
import { Timeline } from "./timeline.js";
import { Transport } from "./transport.js";
import { WasteBar, WasteFigures } from "./waste_bar.js";

export class SimulateTab {
  constructor(state, { onSwitch }) {
    const find = (id) => document.getElementById(id);
    this.transport = new Transport(state);
    const pool = new PoolGrid(find("pool-figure"), find("pool-glass"));
    const waste = new WasteFigures(find("waste-parts"), find("waste-sum"));
    const tables = new BlockTables();
    const beams = new BeamCard();
    const prefixes = new PrefixCard(state, togglePin);
    const log = new EventLog((t) => this.transport.seek(t));
    const readouts = new Readouts();
    const story = new Story(onSwitch);
    const lit = ({ preview, pinned, recording, frame }) => litBy(preview ?? pinned, recording, recording.frame(frame));

    followFrame(state);
    state.on(["theme", "poolFigure"], ({ theme }) => pool.recolour(theme));
    state.on(["recording", "lang"], ({ recording }) => {
      tables.reset(recording);
      log.reset();
    });
    state.on(["recording", "glance", "lang"], (now) => readouts.draw(now.recording, now.glance));
    state.on(["recording", "glance", "lang"], (now) => waste.draw(now.recording, now.glance));
    state.on(["recording", "other", "rest", "lang"], (now) => story.draw(now.recording, now.rest, now.other));
    state.on(["recording", "frame"], ({ recording, frame }) => this.transport.moveTo(frame, recording.steps));
    state.on(["recording", "glance", "lang"], (now) => this.transport.tell(now.glance, now.recording.steps));
    state.on(["lang", "playing"], ({ playing }) => this.transport.offer(playing));
    state.on(["recording", "frame", "pinned", "preview", "theme", "width", "poolFigure"], (now) =>
      pool.draw(now.recording, now.frame, lit(now), now.theme, now.width),
    );
    state.on(["recording", "rest", "pinned", "preview", "lang", "twin"], (now) =>
      tables.draw(now.recording, now.rest, lit(now), now.pinned),
    );
    state.on(["recording", "rest", "lang", "playing", "dragging"], (now) =>
      log.draw(now.recording, now.rest, now.lang, now.playing || now.dragging),
    );
    state.on(["recording", "rest", "pinned", "preview", "lang"], (now) => log.light(lit(now)));
    state.on(["recording", "rest", "pinned", "preview", "lang", "theme"], (now) =>
      beams.draw(now.recording, now.rest, lit(now), now.theme),
    );
    state.on(["recording", "glance", "pinned", "preview", "theme", "width", "prefixesOpen"], (now) =>
      prefixes.draw(now.recording, now.glance, lit({ ...now, frame: now.glance }), now.theme, now.dragging),
    );
    state.on(["rest", "dragging"], (now) => prefixes.draw(now.recording, now.rest, lit({ ...now, frame: now.rest }), now.theme));
    state.on(["recording", "rest", "pinned", "lang", "prefixTwin"], (now) =>
      prefixes.tell(now.recording, now.rest, now.pinned, now.lang),
    );
    pool.recolour(state.get("theme"));
    this._pool = pool; // a sketch, until showPool

    followFocus(state);
    const glass = find("pool-glass");
    const tip = new PoolTip(find("pool-tip"));
    glass.addEventListener("pointermove", (event) => {
      const block = pool.blockAt(event, state.get("recording"));
      if (event.pointerType === "mouse") {
        state.set({ preview: block === null ? null : `b${block}` });
        tip.show(state.get("recording"), state.get("frame"), block, event);
      }
    });
    glass.addEventListener("pointerleave", () => {
      state.set({ preview: null });
      tip.hide();
    });
    glass.addEventListener("click", (event) => {
      const block = pool.blockAt(event, state.get("recording"));
      if (block !== null) {
        togglePin(state, `b${block}`);
      }
    });
    new ResizeObserver(() => state.set({ width: find("pool-figure").clientWidth })).observe(find("pool-figure"));
    find("twin-fold").addEventListener("toggle", () => state.set({ twin: find("twin-fold").open }));

    // On a phone the settings and tables fold away; on a wide screen they are always there.
    const narrow = matchMedia("(max-width: 899px)");
    const fold = () => {
      find("settings-fold").open = !narrow.matches;
      find("prefix-card").open = !narrow.matches;
    };
    narrow.addEventListener("change", fold);
    fold();
  }

  // Has the pool drawn by its figure, once that is open: the page plays before.
  showPool(state) {
    this._pool.toFigure();
    state.set({ poolFigure: true });
  }

  // Adds the pictures of waste in this step and over the run, once their figures are open.
  showWaste(state) {
    const find = (id) => document.getElementById(id);
    const waste = new WasteBar(find("waste-figure"));
    const timeline = new Timeline(find("timeline-figure"), find("playhead"), (t, dragging) =>
      this.transport.seek(t, dragging),
    );
    const draws = [
      [["theme"], ({ theme }) => [waste, timeline].forEach((each) => each.recolour(theme))],
      [["recording"], ({ recording }) => timeline.show(recording)],
      [["recording", "frame"], ({ frame }) => timeline.moveTo(frame)],
      [["recording", "glance", "theme", "width"], (now) => waste.draw(now.recording, now.glance)],
    ];
    for (const [keys, draw] of draws) {
      draw(Object.fromEntries(keys.map((key) => [key, state.get(key)])));
      state.on(keys, draw);
    }
  }
}
