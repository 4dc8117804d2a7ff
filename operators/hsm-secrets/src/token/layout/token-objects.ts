import { hash } from 'node:crypto';
import type { DataObject, Token } from '../token.ts';
import { TokenError } from '../token-error.ts';
import { APPLICATION, metadataLabel, parseLabel, valueLabel } from './label.ts';
import { type MetadataRecord, parseMetadata } from './metadata-record.ts';

/** MetadataObject is an object with metadata; `record` is undefined if its content is damaged. */
export interface MetadataObject {
  readonly object: DataObject;
  readonly record: MetadataRecord | undefined;
}

/** ValueObject is an object with a value. */
export interface ValueObject {
  readonly object: DataObject;
  readonly value: Buffer;
  /** The SHA-256 of the value, as in a manifest. */
  readonly hash: string;
}

/** TokenObjects holds the objects of a token at one moment, by label. Values are read when they are needed. */
export class TokenObjects {
  readonly #token: Token;
  readonly #byLabel = new Map<string, DataObject[]>();
  readonly #keys = new Map<string, string[]>();
  readonly #metadata = new Map<string, readonly MetadataObject[]>();
  readonly #values = new Map<DataObject, ValueObject>();

  constructor(token: Token) {
    // Without a login, a token does not report its private objects: everything would seem to be deleted.
    if (!token.isLoggedIn()) throw new TokenError('Unavailable', 'the session with the token is not logged in');
    this.#token = token;
    for (const object of token.find(APPLICATION)) this.#add(object);
  }

  #add(object: DataObject): void {
    const { label } = object;
    const same = this.#byLabel.get(label);
    if (same !== undefined) {
      same.push(object);
      return;
    }
    const parsed = parseLabel(label);
    if (parsed === undefined) return;
    this.#byLabel.set(label, [object]);
    if (parsed.entry === undefined) return;
    const { path, key } = parsed.entry;
    this.#keys.set(path, [...(this.#keys.get(path) ?? []), key]);
  }

  /** labels returns the labels of all objects of this layout. */
  get labels(): readonly string[] {
    return [...this.#byLabel.keys()];
  }

  /** at returns the objects with a label. */
  at(label: string): readonly DataObject[] {
    return this.#byLabel.get(label) ?? [];
  }

  /** keysBelow returns the last part of all labels that consist of a path and one more part, except `_metadata`. */
  keysBelow(path: string): readonly string[] {
    return this.#keys.get(path) ?? [];
  }

  /** valuesOf returns the objects that can hold the value of a key, with their values. */
  valuesOf(path: string, key: string): readonly ValueObject[] {
    return this.valuesAt(valueLabel(path, key));
  }

  /** valuesAt returns the objects with a label, with their values. */
  valuesAt(label: string): readonly ValueObject[] {
    return this.at(label).map((object) => this.#value(object));
  }

  #value(object: DataObject): ValueObject {
    const known = this.#values.get(object);
    if (known !== undefined) return known;
    const value = this.#token.read(object.handle);
    const read = { object, value, hash: hashOf(value) };
    this.#values.set(object, read);
    return read;
  }

  /** metadataOf returns the metadata objects of a path, with their content. */
  metadataOf(path: string): readonly MetadataObject[] {
    const known = this.#metadata.get(path);
    if (known !== undefined) return known;
    const read = this.at(metadataLabel(path)).map((object) => ({
      object,
      record: parseMetadata(this.#token.read(object.handle)),
    }));
    this.#metadata.set(path, read);
    return read;
  }
}

/** hashOf returns the hash of a value, as in a manifest. */
export function hashOf(value: Buffer): string {
  return hash('sha256', value, 'hex');
}
