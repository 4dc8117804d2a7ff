import { type Clock, formatMicroTime } from '@bowline/machinery';
import { checksumOf } from './checksum.ts';
import { JSON_OBJECT_ID, objectIdOf } from './layout/data-type.ts';
import { APPLICATION, DEFAULT_KEY, metadataLabel, valueLabel } from './layout/label.ts';
import { EMPTY_METADATA, formatMetadata, type MetadataRecord, metadataOf } from './layout/metadata-record.ts';
import { checkData, checkKey, checkMetadata, checkOptions, checkPath, checkVersion } from './layout/secret-input.ts';
import {
  defaultValuesOf,
  isOlderContent,
  isOlderPath,
  pathsOf,
  type SecretContent,
  type SecretState,
  stateOf,
} from './layout/secret-state.ts';
import { hashOf, TokenObjects, type ValueObject } from './layout/token-objects.ts';
import type { DataObject, NewDataObject, Token } from './token.ts';
import { TokenError, type TokenProblem } from './token-error.ts';
import type {
  MetadataInput,
  SecretData,
  SecretMetadata,
  SecretSummary,
  StoredSecret,
  WriteOptions,
} from './token-service.ts';

/**
 * SecretStore reads and writes secrets on a token that is logged in. Its methods are those of TokenService.
 *
 * A write that is interrupted at any call leaves the old or the new content, never a mixture; an error does not tell
 * which one. Objects that it no longer needs are destroyed by the next write to the path.
 */
export class SecretStore {
  readonly #token: Token;
  readonly #clock: Clock;
  #hasWritten = false;

  constructor(token: Token, clock: Clock) {
    this.#token = token;
    this.#clock = clock;
  }

  /** hasWritten reports whether the store tried to create or destroy an object. Until then every call can be repeated. */
  get hasWritten(): boolean {
    return this.#hasWritten;
  }

  read(path: string): StoredSecret {
    checkPath(path);
    const state = this.#state(path);
    const { record, values } = liveContent(state);
    const data = dataOf(values);
    return { data, metadata: metadataOf(record), checksum: checksumOf(data) };
  }

  metadata(path: string): SecretMetadata {
    checkPath(path);
    const state = this.#state(path);
    if (state.content === undefined) throw notFound(state);
    return metadataOf(state.content.record);
  }

  list(prefix: string): readonly SecretSummary[] {
    const root = prefix.replace(/\/$/, '');
    if (root !== '') checkPath(root);
    const objects = new TokenObjects(this.#token);
    return pathsOf(objects)
      .filter((path) => root === '' || path === root || path.startsWith(`${root}/`))
      .flatMap((path) => {
        const { content } = stateOf(objects, path);
        return content === undefined ? [] : [summaryOf(path, content.record, dataOf(content.values))];
      });
  }

  write(path: string, data: SecretData, metadata: MetadataInput, options: WriteOptions = {}): SecretSummary {
    checkPath(path);
    checkData(path, data);
    checkMetadata(path, metadata);
    const state = this.#replaceable(path, options);
    const old = state.content?.record;
    const stamp = this.#stamp(state, options);
    const record: MetadataRecord = {
      ...EMPTY_METADATA,
      ...stamp,
      description: metadata.description,
      labels: metadata.labels ?? {},
      format: metadata.format,
      dataType: metadata.dataType,
      source: metadata.source,
      createdAt: (old?.isDeleted ? undefined : old?.createdAt) ?? stamp.timestamp,
    };
    return this.#replace(state, record, data);
  }

  remove(path: string, key: string | undefined, options: WriteOptions = {}): SecretSummary {
    checkPath(path);
    if (key !== undefined) checkKey(key);
    const state = this.#replaceable(path, options);
    if (key !== undefined) return this.#removeKey(state, key, options);
    // Mirroring copies a tombstone, with its version, to devices that do not have the secret.
    if (options.version === undefined && (state.content?.record.isDeleted ?? true)) {
      // An earlier, interrupted call may have left values on the token.
      this.#destroy(state.leftovers);
      throw notFound(state);
    }
    return this.#replace(state, { ...EMPTY_METADATA, ...this.#stamp(state, options), isDeleted: true }, {});
  }

  #removeKey(state: SecretState, key: string, options: WriteOptions): SecretSummary {
    const { record, values } = liveContent(state);
    if (!values.has(key)) throw new TokenError('NotFound', `the secret "${state.path}" has no key "${key}"`);
    const remaining = new Map([...values].filter(([each]) => each !== key));
    return this.#replace(state, { ...record, ...this.#stamp(state, options) }, dataOf(remaining));
  }

  purge(path: string, version: number): void {
    checkPath(path);
    checkVersion(version, 0);
    const state = this.#state(path);
    const { record, source } = state.content ?? {};
    if (record !== undefined && (!record.isDeleted || record.version !== version))
      throw new TokenError('VersionMismatch', `${describe(state)}; only a tombstone of version ${version} is purged`);
    // The tombstone goes last: an older version would become visible without it.
    this.#destroy([...state.leftovers, ...(source === undefined ? [] : [source])]);
  }

  #state(path: string): SecretState {
    return stateOf(new TokenObjects(this.#token), path);
  }

  #replaceable(path: string, options: WriteOptions): SecretState {
    checkOptions(options);
    const state = this.#state(path);
    const { replaces } = options;
    const version = state.content?.record.version;
    // A secret of another system can exist without a version. 0 does not match it: that means that none exists.
    const isExpected = replaces === 0 ? version === undefined : replaces === version;
    if (replaces === undefined || isExpected) return state;
    const expected = replaces === 0 ? 'no secret' : `version ${replaces}`;
    throw new TokenError('VersionMismatch', `${describe(state)}, but ${expected} was expected; read it again`);
  }

  #stamp(state: SecretState, options: WriteOptions): { readonly version: number; readonly timestamp: string } {
    const version = options.version ?? state.highestVersion + 1;
    return { version, timestamp: options.timestamp ?? formatMicroTime(this.#clock.now()) };
  }

  /**
   * #replace makes this the content of a path. If there was content, the new version becomes visible when its metadata
   * is created, or, if its version is not higher, when the old metadata is destroyed. If there was none, the metadata
   * is created first, because values without metadata are a secret of the older layout.
   */
  #replace(state: SecretState, metadata: MetadataRecord, data: SecretData): SecretSummary {
    const { path } = state;
    const entries = Object.entries(data);
    const record = { ...metadata, manifest: new Map(entries.map(([key, value]) => [key, hashOf(value)])) };
    const summary = summaryOf(path, record, data);
    const content = this.#prepare(state, Object.keys(data));
    if (content !== undefined && formatMetadata(content.record).equals(formatMetadata(record))) return summary;

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
      this.#destroy(old);
    } catch (error) {
      if (!record.isDeleted || content?.values.size === 0 || !isProblem(error, 'Full')) throw error;
      // On a full device, the tombstone needs the memory of the secret. Without metadata its values would be visible.
      this.#destroy(old.reverse());
      this.#create(newMetadata);
    }
    return summary;
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
    this.#destroy(current.leftovers);
    return current.content;
  }

  /** #migrate adds a manifest to a secret of the older layout. Its content and its version stay the same. */
  #migrate(path: string): void {
    const { content, objects } = this.#state(path);
    if (content !== undefined && content.record.manifest === undefined) {
      const defaults = defaultValuesOf(objects, path).map((value) => value.object);
      const value = content.values.get(DEFAULT_KEY);
      if (defaults.length > 0 && value !== undefined) this.#copyDefault(path, value);
      this.#destroy(defaults);
      const manifest = new Map([...content.values].map(([key, { hash }]) => [key, hash]));
      this.#create(object(metadataLabel(path), formatMetadata({ ...content.record, manifest })));
    }
    this.#destroy(this.#state(path).leftovers);
  }

  /** #copyDefault creates an object with the label `<path>/data` in place of one with the label `<path>`. */
  #copyDefault(path: string, { object: old, value, hash }: ValueObject): void {
    const label = valueLabel(path, DEFAULT_KEY);
    if (isOlderPath(new TokenObjects(this.#token), label)) this.#migrate(label);
    const copies = new TokenObjects(this.#token).valuesAt(label);
    if (!copies.some((copy) => copy.hash === hash)) this.#create({ ...object(label, value), objectId: old.objectId });
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
      this.#destroy(this.#state(path).leftovers);
    } catch {
      // The caller throws the first error. The objects are not visible, and the next write destroys them.
    }
  }

  #create(newObject: NewDataObject): void {
    this.#hasWritten = true;
    this.#token.create(newObject);
  }

  #destroy(objects: readonly DataObject[]): void {
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

function dataOf(values: ReadonlyMap<string, ValueObject>): SecretData {
  return Object.fromEntries([...values].map(([key, { value }]) => [key, value]));
}

function summaryOf(path: string, record: MetadataRecord, data: SecretData): SecretSummary {
  const { version, timestamp, isDeleted } = record;
  const checksum = isDeleted ? undefined : checksumOf(data);
  return { path, version, timestamp, isDeleted, checksum, keys: Object.keys(data).sort() };
}

function liveContent(state: SecretState): SecretContent {
  if (state.content === undefined || state.content.record.isDeleted) throw notFound(state);
  return state.content;
}

function notFound(state: SecretState): TokenError {
  const hint = state.isDamaged ? ', because not all of its values are there; write it again' : '';
  return new TokenError('NotFound', `${describe(state)}${hint}`);
}

function describe({ path, content, isDamaged }: SecretState): string {
  const name = `the secret ${JSON.stringify(path)}`;
  if (content === undefined) return `${name} ${isDamaged ? 'is damaged' : 'does not exist'} on the token`;
  const { version, isDeleted } = content.record;
  const described = version === 0 ? 'without a version' : `with version ${version}`;
  return `${name} ${isDeleted ? 'was deleted' : 'exists'} ${described}`;
}
