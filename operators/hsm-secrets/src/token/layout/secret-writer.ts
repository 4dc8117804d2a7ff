import type { DataObject, NewDataObject, Token } from '../token.ts';
import { TokenError, type TokenProblem } from '../token-error.ts';
import type { SecretData } from '../token-service.ts';
import { JSON_OBJECT_ID, objectIdOf } from './data-type.ts';
import { APPLICATION, DEFAULT_KEY, metadataLabel, valueLabel } from './label.ts';
import { formatMetadata, type MetadataRecord } from './metadata-record.ts';
import {
  defaultValuesOf,
  isOlderContent,
  isOlderPath,
  type SecretContent,
  type SecretState,
  stateOf,
} from './secret-state.ts';
import { hashOf, TokenObjects, type ValueObject } from './token-objects.ts';

/** SecretWriter creates and destroys the objects of secrets, in an order in which it can be interrupted at any call. */
export class SecretWriter {
  readonly #token: Token;
  #hasWritten = false;

  constructor(token: Token) {
    this.#token = token;
  }

  /** hasWritten reports whether it tried to create or destroy an object. */
  get hasWritten(): boolean {
    return this.#hasWritten;
  }

  /**
   * replace makes this the content of a path. If there was content, the new version becomes visible when its metadata
   * is created, or, if its version is not higher, when the old metadata is destroyed. If there was none, the metadata
   * is created first, because values without metadata are a secret of the older layout.
   */
  replace(state: SecretState, metadata: MetadataRecord, data: SecretData): void {
    const { path } = state;
    const entries = Object.entries(data);
    const record = { ...metadata, manifest: new Map(entries.map(([key, value]) => [key, hashOf(value)])) };
    const content = this.#prepare(state, Object.keys(data));
    if (content !== undefined && formatMetadata(content.record).equals(formatMetadata(record))) return;

    const kept = new Set<DataObject>();
    const newValues: NewDataObject[] = [];
    for (const [key, value] of entries) {
      const wanted = { ...object(valueLabel(path, key), value), objectId: objectIdOf(value, record.dataType) };
      const old = content?.values.get(key);
      if (old !== undefined && isSameObject(old, wanted)) kept.add(old.object);
      else newValues.push(wanted);
    }
    const newMetadata = object(metadataLabel(path), formatMetadata(record));
    const old = oldObjects(content).filter((each) => !kept.has(each));
    try {
      this.#createAll(path, content === undefined ? [newMetadata, ...newValues] : [...newValues, newMetadata]);
      this.destroy(old);
    } catch (error) {
      if (!record.isDeleted || content?.values.size === 0 || !isProblem(error, 'Full')) throw error;
      // On a full device, the tombstone needs the memory of the secret. Without metadata its values would be visible.
      this.destroy(old.reverse());
      this.#create(newMetadata);
    }
  }

  /**
   * #prepare returns the content of a path after it destroyed all leftovers: together with new values, an incomplete
   * version could become complete. Secrets of the older layout that could be taken for these keys are migrated.
   */
  #prepare(state: SecretState, keys: readonly string[]): SecretContent | undefined {
    const { path, content, objects } = state;
    const older = keys.map((key) => valueLabel(path, key)).filter((label) => isOlderPath(objects, label));
    if (content !== undefined && isOlderContent(content)) older.push(path);
    for (const each of older) this.#migrate(each);
    const current = older.length > 0 ? this.#state(path) : state;
    this.destroy(current.leftovers);
    return current.content;
  }

  /** #migrate adds a manifest to a secret of the older layout. Its content and its version stay the same. */
  #migrate(path: string): void {
    const { content, objects } = this.#state(path);
    if (content !== undefined && content.record.manifest === undefined) {
      const defaults = defaultValuesOf(objects, path).map((value) => value.object);
      const value = content.values.get(DEFAULT_KEY);
      if (defaults.length > 0 && value !== undefined) this.#copyDefault(path, value);
      this.destroy(defaults);
      const manifest = new Map([...content.values].map(([key, { hash }]) => [key, hash]));
      this.#create(object(metadataLabel(path), formatMetadata({ ...content.record, manifest })));
    }
    this.destroy(this.#state(path).leftovers);
  }

  /** #copyDefault creates an object with the label `<path>/data` in place of one with the label `<path>`. */
  #copyDefault(path: string, { object: old, value, hash }: ValueObject): void {
    const label = valueLabel(path, DEFAULT_KEY);
    if (isOlderPath(new TokenObjects(this.#token), label)) this.#migrate(label);
    const copies = new TokenObjects(this.#token).valuesAt(label);
    if (!copies.some((copy) => copy.hash === hash)) this.#create({ ...object(label, value), objectId: old.objectId });
  }

  #state(path: string): SecretState {
    return stateOf(new TokenObjects(this.#token), path);
  }

  #createAll(path: string, objects: readonly NewDataObject[]): void {
    try {
      for (const each of objects) this.#create(each);
    } catch (error) {
      if (!isProblem(error, 'Unavailable', 'Timeout')) this.#discard(path);
      throw error;
    }
  }

  /** #discard destroys what a failed write created, which would use the memory that the device lacks. */
  #discard(path: string): void {
    try {
      this.destroy(this.#state(path).leftovers);
    } catch {
      // The caller throws the first error. The objects are not visible, and the next write destroys them.
    }
  }

  #create(newObject: NewDataObject): void {
    this.#hasWritten = true;
    this.#token.create(newObject);
  }

  /** destroy destroys objects in this order. */
  destroy(objects: readonly DataObject[]): void {
    for (const { handle } of objects) {
      this.#hasWritten = true;
      this.#token.destroy(handle);
    }
  }
}

function object(label: string, value: Buffer): NewDataObject {
  return { label, value, application: APPLICATION, objectId: JSON_OBJECT_ID };
}

/** oldObjects returns the objects of a version, its metadata first: once that is destroyed, the version is not visible. */
function oldObjects(content: SecretContent | undefined): DataObject[] {
  const source = content?.source === undefined ? [] : [content.source];
  return [...source, ...[...(content?.values.values() ?? [])].map((value) => value.object)];
}

function isSameObject(old: ValueObject, wanted: NewDataObject): boolean {
  return old.value.equals(wanted.value) && old.object.objectId.equals(wanted.objectId);
}

function isProblem(error: unknown, ...problems: readonly TokenProblem[]): boolean {
  return error instanceof TokenError && problems.includes(error.problem);
}
