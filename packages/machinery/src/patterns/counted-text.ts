import type { RE2JS } from 're2js';

/** OverreadError ends a search that reads its text more often than it may. */
export class OverreadError extends Error {
  constructor() {
    super('the search reads its text too often');
    this.name = 'OverreadError';
  }
}

/**
 * CountedText is a text that can be read only so often. One search with RE2 is linear, but a series of them is not: each
 * may look to the end of the text for a longer match before it settles for a short one, as `a(.*z)?` does. The engine takes
 * any string object and reads it with `charCodeAt`.
 */
export class CountedText extends String {
  #readsLeft: number;

  constructor(text: string, mostReads: number) {
    super(text);
    this.#readsLeft = mostReads;
  }

  override charCodeAt(index: number): number {
    if (--this.#readsLeft < 0) throw new OverreadError();
    return super.charCodeAt(index);
  }
}

/** A step of CEL is worth this many of the engine's: instructions that it looks at, for every character that it reads. */
const INSTRUCTIONS_PER_STEP = 32;

/** What reading and counting a character costs by itself, in instructions. */
const INSTRUCTIONS_PER_READ = 24;

/** readsWithin is how often a pattern's search may read characters in so many steps. */
export function readsWithin(steps: number, pattern: RE2JS): number {
  return Math.floor((steps * INSTRUCTIONS_PER_STEP) / (pattern.programSize() + INSTRUCTIONS_PER_READ));
}

/** searchSteps is what one search in a text of this length costs, in steps. */
export function searchSteps(pattern: RE2JS, length: number): number {
  return Math.ceil((length * pattern.programSize()) / INSTRUCTIONS_PER_STEP);
}
