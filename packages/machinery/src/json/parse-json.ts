import { quoteText } from './go-text.ts';

/** ParsedJson is a parsed document, and the problems that a lenient parser would hide. */
export interface ParsedJson {
  readonly value: unknown;
  /** Paths of members that occur more than once in their object; the last value is used. */
  readonly duplicates: readonly string[];
}

/** ParseJsonOptions configures how parts of a document are converted. */
export interface ParseJsonOptions {
  /** Converts the literal of a number. Defaults to a number, or a bigint for an integer beyond 2^53. */
  readonly number?: ((literal: string) => unknown) | undefined;
  /** The maximum nesting depth. Defaults to 1,000. */
  readonly maxDepth?: number | undefined;
}

/**
 * JsonSyntaxError reports a text that is not JSON. Its message contains the offending character; `position` does not
 * reveal any content.
 */
export class JsonSyntaxError extends Error {
  override readonly name = 'JsonSyntaxError';
  /** The index of the offending character. */
  readonly position: number;

  constructor(message: string, position: number) {
    super(message);
    this.position = position;
  }
}

/**
 * MAX_JSON_DEPTH is the maximum nesting depth of a document: far beyond any object, and well within the stack of all
 * recursive functions.
 */
export const MAX_JSON_DEPTH = 1_000;

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
/** Matches everything in a string that needs no decoding. Control characters are not allowed in strings. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids exactly these in strings.
const PLAIN = /[^"\\\u0000-\u001f]*/y;

/**
 * parseJson parses JSON without loss. Unlike `JSON.parse`, it keeps integers beyond 2^53 (as bigint), or every number
 * as written if requested, reports duplicate members, and limits the nesting depth.
 *
 * @example
 * parseJson('{"id": 12345678901234567890}').value; // { id: 12345678901234567890n }
 */
export function parseJson(text: string, options: ParseJsonOptions = {}): ParsedJson {
  const { number = numberOf, maxDepth = MAX_JSON_DEPTH } = options;
  return new Parser(text, number, maxDepth).document();
}

function numberOf(literal: string): number | bigint {
  const value = Number(literal);
  return Number.isInteger(value) && !Number.isSafeInteger(value) && /^-?\d+$/.test(literal) ? BigInt(literal) : value;
}

class Parser {
  readonly #text: string;
  readonly #read: (literal: string) => unknown;
  readonly #maxDepth: number;
  readonly #duplicates: string[] = [];
  #at = 0;
  #depth = 0;

  constructor(text: string, read: (literal: string) => unknown, maxDepth: number) {
    this.#text = text;
    this.#read = read;
    this.#maxDepth = maxDepth;
  }

  document(): ParsedJson {
    const value = this.#value('');
    this.#space();
    if (this.#at < this.#text.length) throw this.#unexpected('after top-level value');
    return { value, duplicates: this.#duplicates };
  }

  #value(path: string): unknown {
    this.#space();
    switch (this.#text.charCodeAt(this.#at)) {
      case 0x7b: // {
        return this.#object(path);
      case 0x5b: // [
        return this.#array(path);
      case 0x22: // "
        return this.#string();
      case 0x74: // t
        return this.#word('true', true);
      case 0x66: // f
        return this.#word('false', false);
      case 0x6e: // n
        return this.#word('null', null);
      default:
        return this.#number();
    }
  }

  #object(path: string): Record<string, unknown> {
    this.#enter();
    const object: Record<string, unknown> = {};
    this.#at++;
    this.#space();
    if (this.#take('}')) return this.#leave(object);
    for (;;) {
      this.#space();
      if (this.#text[this.#at] !== '"') throw this.#unexpected('looking for beginning of object key string');
      const name = this.#string();
      const below = path === '' ? name : `${path}.${name}`;
      if (Object.hasOwn(object, name)) this.#duplicates.push(below);
      this.#space();
      if (!this.#take(':')) throw this.#unexpected('after object key');
      const value = this.#value(below);
      // An assignment to `__proto__` would set the prototype of the object.
      if (name === '__proto__') {
        Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
      } else {
        object[name] = value;
      }
      this.#space();
      if (this.#take('}')) return this.#leave(object);
      if (!this.#take(',')) throw this.#unexpected('after object key:value pair');
    }
  }

  #array(path: string): unknown[] {
    this.#enter();
    const array: unknown[] = [];
    this.#at++;
    this.#space();
    if (this.#take(']')) return this.#leave(array);
    for (;;) {
      array.push(this.#value(`${path}[${array.length}]`));
      this.#space();
      if (this.#take(']')) return this.#leave(array);
      if (!this.#take(',')) throw this.#unexpected('after array element');
    }
  }

  #string(): string {
    const start = this.#at + 1;
    PLAIN.lastIndex = start;
    PLAIN.test(this.#text);
    let end = PLAIN.lastIndex;
    if (this.#text[end] === '"') {
      this.#at = end + 1;
      return this.#text.slice(start, end);
    }
    while (this.#text[end] === '\\') {
      PLAIN.lastIndex = end + 2;
      PLAIN.test(this.#text);
      end = PLAIN.lastIndex;
    }
    if (this.#text[end] !== '"') {
      this.#at = end;
      throw this.#unexpected('in string literal');
    }
    this.#at = end + 1;
    try {
      return JSON.parse(this.#text.slice(start - 1, end + 1)) as string;
    } catch {
      throw this.#invalidEscape(start);
    }
  }

  #number(): unknown {
    NUMBER.lastIndex = this.#at;
    const [literal] = NUMBER.exec(this.#text) ?? [];
    if (literal === undefined) throw this.#invalidNumber();
    const value = this.#read(literal);
    // A number that does not fit into 64 bits has become Infinity.
    if (value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY)
      throw new JsonSyntaxError(`the number ${literal.slice(0, 40)} is too large`, this.#at);
    this.#at += literal.length;
    return value;
  }

  #word<T>(word: string, value: T): T {
    if (!this.#text.startsWith(word, this.#at)) throw this.#invalidWord(word);
    this.#at += word.length;
    return value;
  }

  #take(character: string): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  #space(): void {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
      this.#at++;
    }
  }

  #enter(): void {
    if (++this.#depth > this.#maxDepth)
      throw new JsonSyntaxError(`the document nests deeper than ${this.#maxDepth} levels`, this.#at);
  }

  #leave<T>(value: T): T {
    this.#depth--;
    return value;
  }

  #invalidNumber(): JsonSyntaxError {
    if (!this.#take('-')) return this.#unexpected('looking for beginning of value');
    return this.#unexpected('in numeric literal');
  }

  #invalidWord(word: string): JsonSyntaxError {
    let length = 0;
    while (this.#text[this.#at] === word[length]) {
      this.#at++;
      length++;
    }
    return this.#unexpected(`in literal ${word} (expecting '${word[length]}')`);
  }

  /** Returns the error for the first invalid escape of a string. */
  #invalidEscape(start: number): JsonSyntaxError {
    const escapes = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}|(u[0-9a-fA-F]{0,3})?)/g;
    escapes.lastIndex = start;
    for (let found = escapes.exec(this.#text); found; found = escapes.exec(this.#text)) {
      const isValidEscape = found[0].length > 1 && found[1] === undefined;
      if (isValidEscape) continue;
      this.#at = escapes.lastIndex;
      return this.#unexpected(found[1] === undefined ? 'in string escape code' : 'in \\u hexadecimal character escape');
    }
    return new JsonSyntaxError('invalid string escape code', start);
  }

  /** Uses the wording of the API server, which is Go's. */
  #unexpected(where: string): JsonSyntaxError {
    const found = this.#text.codePointAt(this.#at);
    if (found === undefined) return new JsonSyntaxError('unexpected end of JSON input', this.#at);
    const character = String.fromCodePoint(found);
    const quoted = character === "'" ? "\\'" : character === '"' ? '"' : quoteText(character).slice(1, -1);
    return new JsonSyntaxError(`invalid character '${quoted}' ${where}`, this.#at);
  }
}
