// Online softmax over blocks, as a trace of pycore/attention/trace.py tells it. Knows no page.

// Weights of the tokens read up to tile `at`, divided by the sum so far: they add up to 1 at every step.
export function weightsAfter({ scores, maximum, total }, at) {
  return scores.slice(0, at + 1).flat().map((score) => Math.exp(score - maximum[at]) / total[at]);
}
