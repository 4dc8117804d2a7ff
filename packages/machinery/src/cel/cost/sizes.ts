import { add, MAX_COST, scale, times } from './saturating.ts';
import type { Bound } from './sized-type.ts';

/** Size is the range of sizes that a value may have: characters of text, bytes, items of a list or entries of a map. */
export interface Size {
  readonly min: number;
  readonly max: number;
  /** Set where only the size of a request bounds the value. */
  readonly unbounded?: Unbounded | undefined;
}

/** Unbounded names a value that an expression reads, as `self.items[*].name`, and the keyword that its schema lacks. */
export interface Unbounded {
  readonly value: string;
  readonly missing: Bound;
}

/** UNKNOWN_SIZE is the size of a value that nothing bounds. */
export const UNKNOWN_SIZE: Size = Object.freeze({ min: 0, max: MAX_COST });

/** fixedSize is the size of a value that is known. */
export function fixedSize(size: number): Size {
  return { min: size, max: size };
}

/** addSizes is the size of two values put together. */
export function addSizes(a: Size, b: Size): Size {
  return { min: add(a.min, b.min), max: add(a.max, b.max) };
}

/** timesSizes is the product of two sizes. */
export function timesSizes(a: Size, b: Size): Size {
  return { min: times(a.min, b.min), max: times(a.max, b.max) };
}

/** unionSizes is the size of a value that is one of two. */
export function unionSizes(a: Size, b: Size): Size {
  return { min: Math.min(a.min, b.min), max: Math.max(a.max, b.max) };
}

/** CREATE_LIST is the cost of making a list, without that of its items. */
export const CREATE_LIST = 10;
/** CREATE_MAP is the cost of making a map, without that of its entries. */
export const CREATE_MAP = 30;

/** What reading one character of a text costs. */
const TRAVERSAL = 0.1;
/** What one character of a pattern costs, for each character of the text that it is matched with. */
const PATTERN = 0.25;

/** traversal is the cost of reading a text or bytes, as often as given. */
export function traversal(size: Size, rounds = 1): number {
  return scale(size.max, rounds * TRAVERSAL);
}

/** search is the cost of matching a text with a pattern. */
export function search(text: Size, pattern: Size): number {
  return times(scale(add(text.max, 1), TRAVERSAL), scale(pattern.max, PATTERN));
}
