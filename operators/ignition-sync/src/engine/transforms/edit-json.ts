import type { JsonPath } from './json-path.ts';
import { type JsonHandler, type JsonKind, JsonScanner } from './json-scanner.ts';

/** JsonEdit sets the values at a path. */
export interface JsonEdit {
  readonly path: JsonPath;
  readonly value: string;
  /** Whether the value is written as a number or boolean where it replaces one and is one. Otherwise it is a string. */
  readonly keepsType: boolean;
  /** Whether a missing member is created. */
  readonly creates: boolean;
}

/** JsonEditResult is the document after an edit. */
export interface JsonEditResult {
  readonly bytes: Buffer;
  /** Whether the path existed or was created. */
  readonly isFound: boolean;
}

interface Span {
  readonly kind: JsonKind;
  readonly start: number;
  readonly end: number;
}

/** An object on the path that lacks the next part. */
interface Gap {
  /** How many parts of the path lead to the object. */
  readonly depth: number;
  /** The offset of its opening brace. */
  readonly start: number;
  /** The offsets of its last member's value and name; undefined if it is empty. */
  readonly last: { readonly end: number; readonly before: number; readonly key: number } | undefined;
}

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/**
 * editJson sets the values at a path, at every occurrence of a repeated member, and leaves every other byte unchanged. It throws
 * `JsonScanError` if the document is not JSON.
 */
export function editJson(document: Buffer, edit: JsonEdit): JsonEditResult {
  const finder = new Finder(document, edit.path);
  const scanner = new JsonScanner(finder);
  scanner.push(document);
  scanner.end();
  const { targets, gap } = finder;
  if (targets.length > 0) return { bytes: replaceAll(document, targets, edit), isFound: true };
  const missing = gap === undefined ? [] : edit.path.slice(gap.depth);
  if (!edit.creates || gap === undefined || missing.some((part) => typeof part === 'number'))
    return { bytes: document, isFound: false };
  return { bytes: insert(document, gap, missing as readonly string[], edit.value), isFound: true };
}

function replaceAll(document: Buffer, targets: readonly Span[], { value, keepsType }: JsonEdit): Buffer {
  const parts: Buffer[] = [];
  let position = 0;
  for (const { kind, start, end } of targets) {
    parts.push(document.subarray(position, start), Buffer.from(encode(value, keepsType ? kind : 'string')));
    position = end;
  }
  return Buffer.concat([...parts, document.subarray(position)]);
}

function encode(value: string, kind: JsonKind): string {
  if (kind === 'number' && NUMBER.test(value)) return value;
  if (kind === 'boolean' && (value === 'true' || value === 'false')) return value;
  return JSON.stringify(value);
}

function insert(document: Buffer, gap: Gap, names: readonly string[], value: string): Buffer {
  const [first = '', ...rest] = names;
  const nested = rest.reduceRight((inner, name) => `{${JSON.stringify(name)}: ${inner}}`, JSON.stringify(value));
  const member = Buffer.from(`${JSON.stringify(first)}: ${nested}`);
  const { start, last } = gap;
  if (last === undefined) {
    const at = start + 1;
    return Buffer.concat([document.subarray(0, at), member, document.subarray(at)]);
  }
  // The new member is indented like the last one.
  const space = document.subarray(last.before, last.key);
  const before = document.subarray(0, last.end);
  return Buffer.concat([before, Buffer.from(','), space, member, document.subarray(last.end)]);
}

/** A container on the path that is open. */
interface Frame {
  readonly isObject: boolean;
  readonly start: number;
  /** Whether the current member or item is the next part of the path. */
  isNext: boolean;
  hasNext: boolean;
  index: number;
  key: number;
  last: Gap['last'];
}

/** Finder follows one path through a document. Only containers on the path are kept. */
class Finder implements JsonHandler {
  readonly targets: Span[] = [];
  readonly #document: Buffer;
  readonly #path: JsonPath;
  readonly #frames: Frame[] = [];
  #depth = 0;
  /** The start of a container that is a target, while it is open. */
  #target: { readonly kind: JsonKind; readonly start: number; readonly depth: number } | undefined;
  gap: Gap | undefined;

  constructor(document: Buffer, path: JsonPath) {
    this.#document = document;
    this.#path = path;
  }

  key(start: number, end: number): void {
    const frame = this.#current();
    if (frame === undefined) return;
    const part = this.#path[this.#frames.length - 1];
    frame.key = start;
    frame.isNext = typeof part === 'string' && decode(this.#document, start, end) === part;
    frame.hasNext ||= frame.isNext;
  }

  scalar(kind: JsonKind, start: number, end: number): void {
    if (this.#reaches(this.#enterValue())) this.targets.push({ kind, start, end });
    this.#leaveValue(end);
  }

  open(kind: 'object' | 'array', start: number): void {
    const isOnPath = this.#enterValue();
    if (this.#reaches(isOnPath)) this.#target = { kind, start, depth: this.#depth };
    else if (isOnPath) {
      const isObject = kind === 'object';
      const empty = { isNext: false, hasNext: false, index: -1, key: 0, last: undefined };
      this.#frames.push({ isObject, start, ...empty });
    }
    this.#depth++;
  }

  close(end: number): void {
    const frame = this.#current();
    this.#depth--;
    if (frame !== undefined) {
      this.#frames.pop();
      const depth = this.#frames.length;
      const isDeepest = this.gap === undefined || depth >= this.gap.depth;
      if (frame.isObject && !frame.hasNext && isDeepest) this.gap = { depth, start: frame.start, last: frame.last };
    }
    if (this.#target?.depth === this.#depth) {
      this.targets.push({ kind: this.#target.kind, start: this.#target.start, end });
      this.#target = undefined;
    }
    this.#leaveValue(end);
  }

  /** The innermost open container, if it is on the path. */
  #current(): Frame | undefined {
    return this.#frames.length === this.#depth ? this.#frames.at(-1) : undefined;
  }

  /** Returns whether the value that begins here is on the path. */
  #enterValue(): boolean {
    if (this.#depth === 0) return true;
    const frame = this.#current();
    if (frame === undefined) return false;
    if (frame.isObject) return frame.isNext;
    frame.index++;
    return this.#path[this.#frames.length - 1] === frame.index;
  }

  #reaches(isOnPath: boolean): boolean {
    return isOnPath && this.#depth === this.#path.length;
  }

  #leaveValue(end: number): void {
    const frame = this.#current();
    if (!frame?.isObject) return;
    frame.last = { end, before: spaceBefore(this.#document, frame.key), key: frame.key };
  }
}

function spaceBefore(document: Buffer, position: number): number {
  let start = position;
  while (start > 0 && [0x20, 0x09, 0x0a, 0x0d].includes(document[start - 1] ?? 0)) start--;
  return start;
}

function decode(document: Buffer, start: number, end: number): string {
  return JSON.parse(document.toString('utf8', start, end)) as string;
}
