// Trees of beams: from a recording or as columns, and where each beam lies in a picture. Knows no page.

// The beams of a request in a recording, one entry a beam and frame:
// {step, parent (entry, −1: none), seq, dropped (it is gone in the next step)}.
export function treeOf(recording, request) {
  const { seqs, events, frames } = recording.columns;
  const tree = { step: [], parent: [], seq: [], dropped: [] };
  const newest = new Map(); // sequence → its last entry
  // The first beam may be dropped long before the search is over.
  const ends = seqs.finish.filter((_, seq) => seqs.request[seq] === request);
  const end = ends.includes(-1) ? recording.steps : Math.max(...ends);
  for (let t = seqs.arrival[request]; t <= end; t++) {
    for (let i = frames.event_start[t]; i < frames.event_start[t + 1]; i++) {
      if (events.kind[i] === "Dropped" && newest.has(events.seq[i])) {
        tree.dropped[newest.get(events.seq[i])] = true;
      }
    }
    const rows = recording.frame(t).rows.filter(({ seq }) => seqs.request[seq] === request);
    if (rows.length && !newest.size) {
      tree.step.push(t - 1); // the prompt, before there is a beam
      tree.parent.push(-1);
      tree.seq.push(request);
      tree.dropped.push(false);
      newest.set(request, 0);
    }
    const before = new Map(newest); // a child begins where its parent was, whatever the parent did since
    const origin = (seq) => before.get(seq) ?? (seq < 0 ? 0 : origin(seqs.parent[seq]));
    for (const { seq } of rows) {
      tree.parent.push(origin(seq));
      newest.set(seq, tree.step.push(t) - 1);
      tree.seq.push(seq);
      tree.dropped.push(false);
    }
  }
  return tree;
}

// Requests with beams: those of which one was dropped.
export function beamRequests(recording) {
  const { events, seqs } = recording.columns;
  return new Set(events.seq.filter((_, i) => events.kind[i] === "Dropped").map((seq) => seqs.request[seq]));
}

// Which entries have no child though the search went on.
export function withDropped(tree) {
  const parents = new Set(tree.parent);
  const last = Math.max(...tree.step);
  return { ...tree, dropped: tree.step.map((step, i) => step < last && !parents.has(i)) };
}

// A lane for every entry: the first child goes on in its parent's, the others in the lowest that are free.
export function lanesOf({ step, parent }) {
  const lanes = new Array(step.length);
  for (let from = 0; from < step.length; ) {
    let to = from;
    while (to < step.length && step[to] === step[from]) {
      to++;
    }
    const taken = new Set();
    const late = [];
    for (let i = from; i < to; i++) {
      const lane = parent[i] < 0 ? -1 : lanes[parent[i]];
      if (lane < 0 || taken.has(lane)) {
        late.push(i);
      } else {
        lanes[i] = lane;
        taken.add(lane);
      }
    }
    for (const i of late) {
      let lane = 0;
      while (taken.has(lane)) {
        lane++;
      }
      lanes[i] = lane;
      taken.add(lane);
    }
    from = to;
  }
  return lanes;
}
