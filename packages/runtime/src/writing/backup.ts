import { createHash } from 'node:crypto';
import { type KubernetesObject, keyOf, type ObjectKey, type Resource } from '@bowline/kubernetes';
import { isAlreadyExists } from '../errors/api-error.ts';
import { BowlineError } from '../errors/bowline-error.ts';
import { describeKey } from './describe-object.ts';
import type { WriteTools } from './write-client.ts';

/** BackupOptions configures where the content of an object is saved. */
export interface BackupOptions<B extends KubernetesObject> {
  /** The kind of the backup. */
  readonly resource: Resource<B>;
  /** The namespace, and the name unless it is too long or taken by a backup of other content. */
  readonly key: ObjectKey;
  /** The content of the backup; `metadata` may hold labels and annotations. */
  readonly content: B;
  /**
   * Returns the part of `content` that is saved and that distinguishes two backups. Defaults to all but metadata, kind
   * and apiVersion.
   */
  readonly contentOf?: ((backup: B) => unknown) | undefined;
}

/** BackupTools holds what saving a backup needs of a run. The context of a reconcile is one. */
export type BackupTools = Pick<WriteTools, 'fieldManager' | 'signal'> & {
  readonly live: Pick<WriteTools['live'], 'create' | 'find'>;
};

/**
 * saveBackup stores content in an object of its own and returns its key. A backup is never overwritten: the same
 * content reuses its backup, other content goes to `<name>-<8 hex of its hash>`. So does content whose name has more
 * than 253 characters, truncated before the hash: a name that is only truncated might be that of the object being
 * saved.
 */
export async function saveBackup<B extends KubernetesObject>(
  { live: client, fieldManager, signal }: BackupTools,
  options: BackupOptions<B>,
): Promise<ObjectKey> {
  const { resource, content } = options;
  const contentOf = options.contentOf ?? withoutMetadata;
  const hash = hashOf(contentOf(content));
  const hashed = `-${hash.slice(0, 8)}`;
  for (const suffix of options.key.name.length > MAX_NAME_CHARACTERS ? [hashed] : ['', hashed]) {
    const key = { ...options.key, name: shorten(options.key.name, suffix) };
    const backup = { ...content, metadata: { ...content.metadata, ...key } };
    try {
      await client.create(resource, backup, { fieldManager, signal });
      return key;
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
    const stored = await client.find(resource, key, { signal });
    // If it was deleted again, the next attempt starts over.
    if (stored && hashOf(contentOf(stored)) === hash) return keyOf(stored);
  }
  throw new BowlineError(
    'BOWLINE_BACKUP_TAKEN',
    `cannot save a backup as ${describeKey(resource, options.key)}: the objects of that name and of the name with its hash have different content; delete or rename one of them`,
    { retryable: true },
  );
}

/** The API's limit. */
const MAX_NAME_CHARACTERS = 253;

function shorten(name: string, suffix: string): string {
  // A name may not end in a dot or dash before the suffix, either.
  return `${name.slice(0, MAX_NAME_CHARACTERS - suffix.length).replace(/[-.]+$/, '')}${suffix}`;
}

function withoutMetadata({ apiVersion: _, kind: __, metadata: ___, ...content }: KubernetesObject): unknown {
  return content;
}

/**
 * Does not depend on the order of members. Absent and empty maps are equal too, because the server drops empty ones.
 */
function hashOf(content: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(canonical(content)) ?? '')
    .digest('hex');
}

function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, each]) => [name, canonical(each)] as const);
  const kept = members.filter(([, each]) => each !== undefined && !isEmpty(each));
  return Object.fromEntries(kept.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length === 0;
}
