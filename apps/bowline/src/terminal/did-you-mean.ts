/**
 * didYouMean returns a hint with the known word most similar to a mistyped one, or an empty string if none is similar.
 */
export function didYouMean(word: string, known: readonly string[]): string {
  let best: string | undefined;
  // Two typos, or one in a short word: more would be guessing.
  let bestDistance = Math.min(3, Math.ceil(word.length / 2));
  for (const candidate of known) {
    const edits = distance(word, candidate);
    if (edits < bestDistance) {
      bestDistance = edits;
      best = candidate;
    }
  }
  return best === undefined ? '' : ` (did you mean ${best}?)`;
}

/** Returns the number of letters to change, add or remove. */
function distance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [i, letter] of [...a].entries()) {
    const row = [i + 1];
    for (const [j, other] of [...b].entries()) {
      const replaced = (previous[j] ?? 0) + (letter === other ? 0 : 1);
      row.push(Math.min(replaced, (previous[j + 1] ?? 0) + 1, (row[j] ?? 0) + 1));
    }
    previous = row;
  }
  return previous[b.length] ?? 0;
}
