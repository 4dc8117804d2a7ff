import { TokenError } from '../../../operators/hsm-secrets/src/token/token-error.ts';
import type { TokenService } from '../../../operators/hsm-secrets/src/token/token-service.ts';
import type { Operation } from './operations.ts';

/** Entry is a secret or a tombstone, as readers see it. */
export interface Entry {
  readonly version: number;
  readonly isDeleted: boolean;
  /** The values by key, in hex. */
  readonly values: Readonly<Record<string, string>>;
}

/** Content holds everything that readers see on a token, by path. */
export type Content = ReadonlyMap<string, Entry>;

/** readContent reads everything, and compares the list with the single secrets. */
export async function readContent(service: TokenService, problems: string[]): Promise<Content> {
  const content = new Map<string, Entry>();
  for (const { path, version, isDeleted, keys, checksum } of await service.list('')) {
    const secret = isDeleted ? undefined : await service.read(path);
    const values = Object.entries(secret?.data ?? {}).map(([key, value]) => [key, value.toString('hex')] as const);
    content.set(path, { version, isDeleted, values: Object.fromEntries(values.sort(([a], [b]) => (a < b ? -1 : 1))) });
    const isListed = secret === undefined || (secret.checksum === checksum && secret.metadata.version === version);
    if (!isListed || values.length !== keys.length) problems.push(`the list disagrees with the secret ${path}`);
  }
  return content;
}

/** Prediction is what an operation must lead to, if it is not interrupted. */
export interface Prediction {
  readonly problem: TokenError['problem'] | undefined;
  /** The content afterwards. A version of `undefined` is any that is higher than the old one. */
  readonly entry: (Omit<Entry, 'version'> & { readonly version: number | undefined }) | undefined;
}

/** predict returns what an operation must lead to. */
export function predict(content: Content, operation: Operation): Prediction {
  const old = content.get(operation.path);
  const refused = (problem: TokenError['problem']): Prediction => ({ problem, entry: old });
  if (operation.kind === 'purge') {
    if (old !== undefined && !(old.isDeleted && old.version === operation.version)) return refused('VersionMismatch');
    return { problem: undefined, entry: undefined };
  }
  const { replaces, version } = operation.options;
  const isExpected = replaces === 0 ? old === undefined : replaces === old?.version;
  if (replaces !== undefined && !isExpected) return refused('VersionMismatch');
  const done = (values: Entry['values'], isDeleted = false): Prediction => ({
    problem: undefined,
    entry: { version, isDeleted, values },
  });
  const live = old?.isDeleted === false ? old : undefined;
  switch (operation.kind) {
    case 'write': {
      const values = Object.entries(operation.data).map(([key, value]) => [key, value.toString('hex')]);
      return done(Object.fromEntries(values));
    }
    case 'remove':
      return live === undefined && version === undefined ? refused('NotFound') : done({}, true);
    case 'remove key': {
      if (live === undefined || !Object.hasOwn(live.values, operation.key)) return refused('NotFound');
      return done(Object.fromEntries(Object.entries(live.values).filter(([key]) => key !== operation.key)));
    }
  }
}

/** isSameContent reports whether two contents are equal. */
export function isSameContent(a: Content, b: Content): boolean {
  return a.size === b.size && [...a].every(([path, entry]) => text(entry) === text(b.get(path)));
}

/** isPredicted reports whether a content is the old one with the predicted entry of a path. */
export function isPredicted(content: Content, old: Content, path: string, { entry }: Prediction): boolean {
  const found = content.get(path);
  if ((found === undefined) !== (entry === undefined)) return false;
  if (found !== undefined && entry !== undefined) {
    const isVersion =
      entry.version === undefined ? found.version > (old.get(path)?.version ?? 0) : found.version === entry.version;
    if (!isVersion || text(found, 0) !== text({ ...entry, version: 0 })) return false;
  }
  return isSameContent(without(content, path), without(old, path));
}

function without(content: Content, path: string): Content {
  return new Map([...content].filter(([each]) => each !== path));
}

function text(entry: Entry | undefined, version = entry?.version): string {
  const values = Object.entries(entry?.values ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([version, entry?.isDeleted, values]);
}

/** problemOf returns the problem of a failed call; undefined if it succeeded. */
export async function problemOf(call: Promise<unknown>): Promise<TokenError['problem'] | 'other' | undefined> {
  try {
    await call;
    return undefined;
  } catch (error) {
    return error instanceof TokenError ? error.problem : 'other';
  }
}
