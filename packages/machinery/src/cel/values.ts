import { compareQuantities, type Quantity } from '../values/quantity.ts';
import type {
  AuthorizerValue,
  DecisionValue,
  GroupCheckValue,
  PathCheckValue,
  ResourceCheckValue,
} from './authorizer-values.ts';
import type { ObjectValue, OpaqueValue } from './schema-values.ts';

/**
 * CelFailure reports that an expression cannot be evaluated for the given values: a missing key, an overflow, a wrong
 * type.
 */
export class CelFailure extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'CelFailure';
  }
}

/** CelValue is a value during evaluation. Integers are bigints, doubles are numbers. */
export type CelValue =
  | null
  | boolean
  | bigint
  | number
  | string
  | Uint8Array
  | ListValue
  | MapValue
  | ObjectValue
  | OpaqueValue
  | DurationValue
  | TimestampValue
  | OptionalValue
  | TypeValue
  | QuantityValue
  | IpValue
  | CidrValue
  | UrlValue
  | FormatValue
  | AuthorizerValue
  | PathCheckValue
  | GroupCheckValue
  | ResourceCheckValue
  | DecisionValue;

/**
 * ScalarValue is a value of a type that JavaScript lacks. It has its type, and compares itself with others of the same
 * type.
 */
export type ScalarValue =
  | DurationValue
  | TimestampValue
  | TypeValue
  | QuantityValue
  | IpValue
  | CidrValue
  | UrlValue
  | FormatValue
  | AuthorizerValue
  | PathCheckValue
  | GroupCheckValue
  | ResourceCheckValue
  | DecisionValue;

/** ListOptions configures how a list of a schema compares. */
export interface ListOptions {
  /** Sets and list-maps compare regardless of order. Defaults to atomic. */
  readonly kind?: 'atomic' | 'set' | 'map' | undefined;
  /** keyOf returns the key of an item of a list-map. */
  readonly keyOf?: ((item: CelValue) => string) | undefined;
}

/**
 * ListValue is a list. Each item of the data is converted to a CEL value when it is read: one item may fail without the
 * others.
 */
export class ListValue {
  readonly type = 'list';
  readonly length: number;
  readonly kind: 'atomic' | 'set' | 'map';
  readonly keyOf: ((item: CelValue) => string) | undefined;
  readonly #read: (index: number) => CelValue;
  readonly #known: (CelValue | undefined)[] = [];

  constructor(
    items: readonly CelValue[] | { readonly length: number; readonly read: (index: number) => CelValue },
    options: ListOptions = {},
  ) {
    this.length = items.length;
    this.#read = 'read' in items ? items.read : (index) => items[index] ?? null;
    this.kind = options.kind ?? 'atomic';
    this.keyOf = options.keyOf;
  }

  /** at returns an item, or undefined outside the list. */
  at(index: number): CelValue | undefined {
    if (index < 0 || index >= this.length) return undefined;
    const known = this.#known[index];
    if (known !== undefined) return known;
    const value = this.#read(index);
    this.#known[index] = value;
    return value;
  }

  /** items returns all items; it fails if one of them does. */
  get items(): readonly CelValue[] {
    return Array.from({ length: this.length }, (_, index) => this.at(index) ?? null);
  }
}

/** LazyValue is a value of a map that is created when it is read. */
export class LazyValue {
  readonly read: () => CelValue;

  constructor(read: () => CelValue) {
    this.read = read;
  }
}

/**
 * MapValue is a map. Equal numbers are the same key, regardless of their type. Values are converted when read, like the
 * items of a list.
 */
export class MapValue {
  readonly type = 'map';
  readonly #entries = new Map<string, { readonly key: CelValue; readonly read: () => CelValue; known?: CelValue }>();

  constructor(entries: Iterable<readonly [key: CelValue, value: CelValue | LazyValue]> = []) {
    for (const [key, value] of entries) {
      this.#entries.set(keyText(key), { key, read: value instanceof LazyValue ? value.read : () => value });
    }
  }

  /** find returns the value of a key, or undefined. */
  find(key: CelValue): CelValue | undefined {
    const entry = this.#entries.get(keyText(key));
    if (entry === undefined) return undefined;
    if (entry.known === undefined) entry.known = entry.read();
    return entry.known;
  }

  /** keys returns the keys in insertion order. */
  keys(): readonly CelValue[] {
    return Array.from(this.#entries.values(), ({ key }) => key);
  }

  /** entries returns the pairs in insertion order; it fails if one of the values does. */
  entries(): readonly (readonly [CelValue, CelValue])[] {
    return this.keys().map((key) => [key, this.find(key) ?? null] as const);
  }

  get size(): number {
    return this.#entries.size;
  }
}

function keyText(key: CelValue): string {
  if (typeof key === 'number') return Number.isInteger(key) ? `n${BigInt(key)}` : `n${key}`;
  if (typeof key === 'bigint') return `n${key}`;
  if (typeof key === 'object') throw new CelFailure('unsupported key type');
  return `${typeof key}${String(key)}`;
}

/** DurationValue is a length of time. */
export class DurationValue {
  readonly type = 'duration';
  readonly nanoseconds: bigint;

  constructor(nanoseconds: bigint) {
    if (nanoseconds < -(2n ** 63n) || nanoseconds >= 2n ** 63n) throw new CelFailure('duration overflow');
    this.nanoseconds = nanoseconds;
  }

  isSame(other: DurationValue): boolean {
    return this.nanoseconds === other.nanoseconds;
  }
}

const FIRST_SECOND = -62_135_596_800n;
const LAST_SECOND = 253_402_300_799n;

/** TimestampValue is a point in time between the years 1 and 9999. */
export class TimestampValue {
  readonly type = 'timestamp';
  /** Nanoseconds since 1970. */
  readonly nanoseconds: bigint;
  /** The zone in which the time was written; it affects only the formatted text. */
  readonly zoneMinutes: number;

  constructor(nanoseconds: bigint, zoneMinutes = 0) {
    if (nanoseconds < FIRST_SECOND * 1_000_000_000n || nanoseconds >= (LAST_SECOND + 1n) * 1_000_000_000n)
      throw new CelFailure('timestamp overflow');
    this.nanoseconds = nanoseconds;
    this.zoneMinutes = zoneMinutes;
  }

  isSame(other: TimestampValue): boolean {
    return this.nanoseconds === other.nanoseconds;
  }
}

/** OptionalValue is a value or none. */
export class OptionalValue {
  readonly type = 'optional';
  readonly value: CelValue | undefined;

  constructor(value?: CelValue) {
    this.value = value;
  }
}

/** NONE is the absent value. */
export const NONE = new OptionalValue();

/** TypeValue is a type as a value: the result of `type(x)`. */
export class TypeValue {
  readonly type = 'type';
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }

  isSame(other: TypeValue): boolean {
    return this.name === other.name;
  }
}

/** QuantityValue is an amount of a resource. */
export class QuantityValue {
  readonly type = 'quantity';
  readonly quantity: Quantity;

  constructor(quantity: Quantity) {
    this.quantity = quantity;
  }

  isSame(other: QuantityValue): boolean {
    return compareQuantities(this.quantity, other.quantity) === 0;
  }
}

/** IpValue is an IP address of 4 or 16 bytes. */
export class IpValue {
  readonly type = 'ip';
  readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  isSame(other: IpValue): boolean {
    return Buffer.compare(this.bytes, other.bytes) === 0;
  }
}

/** CidrValue is an address with the length of its network part. */
export class CidrValue {
  readonly type = 'cidr';
  readonly bytes: Uint8Array;
  readonly prefix: number;

  constructor(bytes: Uint8Array, prefix: number) {
    this.bytes = bytes;
    this.prefix = prefix;
  }

  isSame(other: CidrValue): boolean {
    return this.prefix === other.prefix && Buffer.compare(this.bytes, other.bytes) === 0;
  }
}

/** UrlValue holds the parts of a URL. */
export class UrlValue {
  readonly type = 'url';
  readonly scheme: string;
  readonly host: string;
  readonly path: string;
  readonly query: string;
  readonly text: string;

  constructor(text: string, parts: { scheme: string; host: string; path: string; query: string }) {
    this.text = text;
    this.scheme = parts.scheme;
    this.host = parts.host;
    this.path = parts.path;
    this.query = parts.query;
  }

  isSame(other: UrlValue): boolean {
    return this.text === other.text;
  }
}

/** FormatValue is a named check of text. */
export class FormatValue {
  readonly type = 'format';
  readonly name: string;
  readonly problems: (text: string) => readonly string[];

  constructor(name: string, problems: (text: string) => readonly string[]) {
    this.name = name;
    this.problems = problems;
  }

  isSame(other: FormatValue): boolean {
    return this.name === other.name;
  }
}
