import type { RE2JS } from 're2js';

/** OverreadError ends a search that exceeds its limit of reads. */
export class OverreadError extends Error {
  constructor() {
    super('the search exceeds its limit of reads');
    this.name = 'OverreadError';
  }
}

/**
 * CountedText is a text with a limit on the number of reads. One RE2 search is linear, but a series of searches is not:
 * each may read to the end of the text for a longer match before it settles for a short one, as with `a(.*z)?`. The
 * engine accepts any string object and reads it with `charCodeAt`.
 */
export class CountedText extends String {
  #readsLeft: number;

  constructor(text: string, maxReads: number) {
    super(text);
    this.#readsLeft = maxReads;
  }

  override charCodeAt(index: number): number {
    if (--this.#readsLeft < 0) throw new OverreadError();
    return super.charCodeAt(index);
  }
}

/**
 * The number of engine instructions per CEL step: the engine executes instructions for every character that it reads.
 */
const INSTRUCTIONS_PER_STEP = 32;

/** The cost of reading and counting a character, in instructions. */
const INSTRUCTIONS_PER_READ = 24;

/** readsWithin returns the number of characters that a search with the pattern may read in `steps` steps. */
export function readsWithin(steps: number, pattern: RE2JS): number {
  return Math.floor((steps * INSTRUCTIONS_PER_STEP) / (pattern.programSize() + INSTRUCTIONS_PER_READ));
}

/** searchSteps returns the cost of one search in a text of this length, in steps. */
export function searchSteps(pattern: RE2JS, length: number): number {
  return Math.ceil((length * pattern.programSize()) / INSTRUCTIONS_PER_STEP);
}
