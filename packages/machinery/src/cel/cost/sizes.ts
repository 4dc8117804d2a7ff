import { add, MAX_COST, scale, times } from './saturating.ts';
import type { Bound } from './sized-type.ts';

/** Size is the range of possible sizes of a value: characters of text, bytes, items of a list or entries of a map. */
export interface Size {
  readonly min: number;
  readonly max: number;
  /** Set if the value is bounded only by the size of a request. */
  readonly unbounded?: Unbounded | undefined;
}

/**
 * Unbounded names a value that an expression reads, such as `self.items[*].name`, and the keyword that its schema
 * lacks.
 */
export interface Unbounded {
  readonly value: string;
  readonly missing: Bound;
}

/** UNKNOWN_SIZE is the size of a value that nothing bounds. */
export const UNKNOWN_SIZE: Size = Object.freeze({ min: 0, max: MAX_COST });

/** fixedSize returns the size of a value of known size. */
export function fixedSize(size: number): Size {
  return { min: size, max: size };
}

/** addSizes returns the size of two values joined together. */
export function addSizes(a: Size, b: Size): Size {
  return { min: add(a.min, b.min), max: add(a.max, b.max) };
}

/** timesSizes returns the product of two sizes. */
export function timesSizes(a: Size, b: Size): Size {
  return { min: times(a.min, b.min), max: times(a.max, b.max) };
}

/** unionSizes returns the size of a value that is one of two values. */
export function unionSizes(a: Size, b: Size): Size {
  return { min: Math.min(a.min, b.min), max: Math.max(a.max, b.max) };
}

/** CREATE_LIST is the cost of creating a list, without its items. */
export const CREATE_LIST = 10;
/** CREATE_MAP is the cost of creating a map, without its entries. */
export const CREATE_MAP = 30;

/** The cost of reading one character of a text. */
const TRAVERSAL = 0.1;
/** The cost of one character of a pattern, per character of the text that it is matched against. */
const PATTERN = 0.25;

/** traversal returns the cost of reading a text or bytes the given number of times. */
export function traversal(size: Size, rounds = 1): number {
  return scale(size.max, rounds * TRAVERSAL);
}

/** search returns the cost of matching a text against a pattern. */
export function search(text: Size, pattern: Size): number {
  return times(scale(add(text.max, 1), TRAVERSAL), scale(pattern.max, PATTERN));
}
