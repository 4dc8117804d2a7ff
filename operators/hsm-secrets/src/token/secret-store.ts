import { type Clock, formatMicroTime } from '@bowline/machinery';
import { checksumOf } from './checksum.ts';
import { EMPTY_METADATA, type MetadataRecord, metadataOf } from './layout/metadata-record.ts';
import { checkData, checkKey, checkMetadata, checkOptions, checkPath, checkVersion } from './layout/secret-input.ts';
import { pathsOf, type SecretContent, type SecretState, stateOf } from './layout/secret-state.ts';
import { SecretWriter } from './layout/secret-writer.ts';
import { TokenObjects, type ValueObject } from './layout/token-objects.ts';
import type { Token } from './token.ts';
import { TokenError } from './token-error.ts';
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
  readonly #writer: SecretWriter;

  constructor(token: Token, clock: Clock) {
    this.#token = token;
    this.#clock = clock;
    this.#writer = new SecretWriter(token);
  }

  /** hasWritten reports whether the store tried to create or destroy an object. Until then every call can be repeated. */
  get hasWritten(): boolean {
    return this.#writer.hasWritten;
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
      this.#writer.destroy(state.leftovers);
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
    this.#writer.destroy([...state.leftovers, ...(source === undefined ? [] : [source])]);
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

  #replace(state: SecretState, record: MetadataRecord, data: SecretData): SecretSummary {
    this.#writer.replace(state, record, data);
    return summaryOf(state.path, record, data);
  }

  #stamp(state: SecretState, options: WriteOptions): { readonly version: number; readonly timestamp: string } {
    const version = options.version ?? state.highestVersion + 1;
    checkVersion(version, 1);
    return { version, timestamp: options.timestamp ?? formatMicroTime(this.#clock.now()) };
  }
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
