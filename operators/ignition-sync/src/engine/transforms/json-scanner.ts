/** JsonKind is the kind of a JSON value. */
export type JsonKind = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null';

/** JsonHandler receives what a scanner finds. Offsets are bytes from the start of the document. */
export interface JsonHandler {
  /** A member's name, from its opening quote to after its closing quote. */
  key(start: number, end: number): void;
  /** A value that is neither an object nor an array. */
  scalar(kind: JsonKind, start: number, end: number): void;
  open(kind: 'object' | 'array', start: number): void;
  close(end: number): void;
}

/** JsonScanError reports where a document is not JSON. Its message contains no content. */
export class JsonScanError extends Error {
  override readonly name = 'JsonScanError';
  readonly line: number;
  readonly column: number;

  constructor(problem: string, line: number, column: number) {
    super(`${problem} at line ${line}, column ${column}`);
    this.line = line;
    this.column = column;
  }
}

/** Deeper documents are refused, so that memory does not depend on the document. */
const MAX_DEPTH = 1_000;

// The states between two bytes.
const BOM = 0;
const VALUE = 1;
const VALUE_OR_END = 2;
const KEY = 3;
const KEY_OR_END = 4;
const COLON = 5;
const COMMA = 6;
const STRING = 7;
const ESCAPE = 8;
const UNICODE = 9;
const WORD = 10;
const NUMBER = 11;
const DONE = 12;
// The states inside a number.
const SIGN = 0;
const ZERO = 1;
const DIGITS = 2;
const DOT = 3;
const FRACTION = 4;
const EXPONENT = 5;
const EXPONENT_SIGN = 6;
const EXPONENT_DIGITS = 7;
const UTF8_BOM = [0xef, 0xbb, 0xbf];

interface Word {
  readonly text: Uint8Array;
  readonly kind: JsonKind;
}

const WORDS: Readonly<Record<number, Word>> = {
  116: { text: Buffer.from('true'), kind: 'boolean' },
  102: { text: Buffer.from('false'), kind: 'boolean' },
  110: { text: Buffer.from('null'), kind: 'null' },
};

/**
 * JsonScanner checks the syntax of a JSON document that arrives in chunks, and reports the position of each part. Its
 * memory does not depend on the size of the document. A byte order mark is allowed, because editors write it.
 */
export class JsonScanner {
  readonly #handler: JsonHandler | undefined;
  /** 1 for an object, 0 for an array. */
  readonly #containers: number[] = [];
  #state: number = BOM;
  #offset = 0;
  #line = 1;
  #column = 0;
  #start = 0;
  #isKey = false;
  #digitsLeft = 0;
  #number = 0;
  #word: Word = { text: new Uint8Array(), kind: 'null' };
  #wordAt = 0;

  constructor(handler?: JsonHandler) {
    this.#handler = handler;
  }

  /** push scans the next bytes, or throws `JsonScanError`. */
  push(chunk: Uint8Array): void {
    for (let index = 0; index < chunk.length; index++) {
      if (this.#state === STRING) index = this.#skipText(chunk, index);
      const byte = chunk[index];
      if (byte === undefined) return;
      if (byte === 0x0a) {
        this.#line++;
        this.#column = 0;
      } else if ((byte & 0xc0) !== 0x80) this.#column++;
      // A byte that ends a number is also the first one after it.
      while (!this.#take(byte)) {}
      this.#offset++;
    }
  }

  /** Returns the index of the next byte of a string that is not plain text. Most bytes of large documents are. */
  #skipText(chunk: Uint8Array, from: number): number {
    let index = from;
    let characters = 0;
    for (; index < chunk.length; index++) {
      const byte = chunk[index] ?? 0;
      if (byte < 0x20 || byte === 0x22 || byte === 0x5c) break;
      if ((byte & 0xc0) !== 0x80) characters++;
    }
    this.#column += characters;
    this.#offset += index - from;
    return index;
  }

  /** end throws `JsonScanError` if the document is not complete. */
  end(): void {
    if (this.#state === NUMBER) this.#endNumber();
    if (this.#state !== DONE) throw this.#error('unexpected end of the document');
  }

  /** Returns false if the byte was not consumed. */
  #take(byte: number): boolean {
    switch (this.#state) {
      case STRING:
        this.#inString(byte);
        return true;
      case NUMBER:
        return this.#inNumber(byte);
      case ESCAPE:
        if (byte === 0x75) [this.#state, this.#digitsLeft] = [UNICODE, 4];
        else if ('"\\/bfnrt'.includes(String.fromCharCode(byte))) this.#state = STRING;
        else throw this.#error('invalid escape in a string');
        return true;
      case UNICODE:
        if (!/[0-9a-fA-F]/.test(String.fromCharCode(byte))) throw this.#error('invalid escape in a string');
        if (--this.#digitsLeft === 0) this.#state = STRING;
        return true;
      case WORD:
        this.#inWord(byte);
        return true;
      case BOM:
        return this.#inMark(byte);
      default:
        this.#betweenTokens(byte);
        return true;
    }
  }

  #betweenTokens(byte: number): void {
    if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) return;
    const isEnd = (this.#state === KEY_OR_END && byte === 0x7d) || (this.#state === VALUE_OR_END && byte === 0x5d);
    if (isEnd) this.#close();
    else if (this.#state === KEY_OR_END || this.#state === KEY) this.#openKey(byte);
    else if (this.#state === VALUE_OR_END || this.#state === VALUE) this.#openValue(byte);
    else if (this.#state === COMMA) this.#afterValue(byte);
    else if (this.#state === DONE) throw this.#error('unexpected content after the document');
    else if (byte === 0x3a) this.#state = VALUE;
    else throw this.#error('expected a colon after the name of a member');
  }

  #openKey(byte: number): void {
    if (byte !== 0x22) throw this.#error('expected the name of a member');
    this.#isKey = true;
    this.#start = this.#offset;
    this.#state = STRING;
  }

  #openValue(byte: number): void {
    const word = WORDS[byte];
    this.#start = this.#offset;
    if (byte === 0x7b || byte === 0x5b) this.#open(byte === 0x7b);
    else if (byte === 0x22) {
      this.#isKey = false;
      this.#state = STRING;
    } else if (word !== undefined) {
      [this.#word, this.#wordAt, this.#state] = [word, 1, WORD];
    } else if (byte === 0x2d || isDigit(byte)) {
      this.#number = byte === 0x2d ? SIGN : byte === 0x30 ? ZERO : DIGITS;
      this.#state = NUMBER;
    } else throw this.#error('expected a value');
  }

  #afterValue(byte: number): void {
    const isObject = this.#containers.at(-1) === 1;
    if (byte === 0x2c) this.#state = isObject ? KEY : VALUE;
    else if (byte === (isObject ? 0x7d : 0x5d)) this.#close();
    else throw this.#error(isObject ? 'expected a comma or }' : 'expected a comma or ]');
  }

  #open(isObject: boolean): void {
    if (this.#containers.length >= MAX_DEPTH) throw this.#error(`nesting deeper than ${MAX_DEPTH} levels`);
    this.#containers.push(isObject ? 1 : 0);
    this.#state = isObject ? KEY_OR_END : VALUE_OR_END;
    this.#handler?.open(isObject ? 'object' : 'array', this.#offset);
  }

  #close(): void {
    this.#containers.pop();
    this.#handler?.close(this.#offset + 1);
    this.#valueEnded();
  }

  #valueEnded(): void {
    this.#state = this.#containers.length === 0 ? DONE : COMMA;
  }

  #inString(byte: number): void {
    if (byte === 0x5c) this.#state = ESCAPE;
    else if (byte < 0x20) throw this.#error('control character in a string');
    else if (byte === 0x22) {
      if (this.#isKey) {
        this.#state = COLON;
        this.#handler?.key(this.#start, this.#offset + 1);
      } else {
        this.#handler?.scalar('string', this.#start, this.#offset + 1);
        this.#valueEnded();
      }
    }
  }

  #inWord(byte: number): void {
    if (byte !== this.#word.text[this.#wordAt]) throw this.#error('expected a value');
    if (++this.#wordAt < this.#word.text.length) return;
    this.#handler?.scalar(this.#word.kind, this.#start, this.#offset + 1);
    this.#valueEnded();
  }

  #inNumber(byte: number): boolean {
    const next = nextInNumber(this.#number, byte);
    if (next === undefined) {
      this.#endNumber();
      return false;
    }
    this.#number = next;
    return true;
  }

  #endNumber(): void {
    if (![ZERO, DIGITS, FRACTION, EXPONENT_DIGITS].includes(this.#number)) throw this.#error('incomplete number');
    this.#handler?.scalar('number', this.#start, this.#offset);
    this.#valueEnded();
  }

  #inMark(byte: number): boolean {
    if (this.#offset === 0 && byte !== UTF8_BOM[0]) {
      this.#state = VALUE;
      return false;
    }
    if (byte !== UTF8_BOM[this.#offset]) throw this.#error('expected a value');
    if (this.#offset === 2) this.#state = VALUE;
    return true;
  }

  #error(problem: string): JsonScanError {
    return new JsonScanError(problem, this.#line, this.#column);
  }
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

/** Returns the state after the byte, or undefined if it is not part of the number. */
function nextInNumber(state: number, byte: number): number | undefined {
  const isExponent = byte === 0x65 || byte === 0x45;
  switch (state) {
    case SIGN:
      return byte === 0x30 ? ZERO : isDigit(byte) ? DIGITS : undefined;
    case ZERO:
    case DIGITS:
      if (state === DIGITS && isDigit(byte)) return DIGITS;
      return byte === 0x2e ? DOT : isExponent ? EXPONENT : undefined;
    case DOT:
      return isDigit(byte) ? FRACTION : undefined;
    case FRACTION:
      return isDigit(byte) ? FRACTION : isExponent ? EXPONENT : undefined;
    case EXPONENT:
      if (byte === 0x2b || byte === 0x2d) return EXPONENT_SIGN;
      return isDigit(byte) ? EXPONENT_DIGITS : undefined;
    default:
      return isDigit(byte) ? EXPONENT_DIGITS : undefined;
  }
}
