import { createHash } from 'node:crypto';
import type { ObjectKey, Secret } from '@bowline/kubernetes';
import { project } from '@bowline/runtime';
import type { ProjectView } from '@bowline/runtime/cache';
import type { Problem } from './validity.ts';

/** SecretView is what the cache keeps of a Secret: no values. */
export interface SecretView {
  readonly namespace: string;
  readonly name: string;
  readonly keys: readonly string[];
  readonly hash: string;
}

/** secretView keeps the keys of a Secret and a hash of its content. */
export const secretView: ProjectView<Secret, SecretView> = project(
  ({ metadata, data = {} }: Secret): SecretView => ({
    namespace: metadata?.namespace ?? '',
    name: metadata?.name ?? '',
    keys: Object.keys(data).sort(),
    hash: hashOf(Object.entries(data).sort(([a], [b]) => (a < b ? -1 : 1))),
  }),
);

/** SecretReference names a Secret in the namespace of the operands and, if only one is needed, a key of it. */
export interface SecretReference {
  readonly name: string;
  readonly key?: string | undefined;
}

/** ReferencedSecrets is the state of the Secrets that a user refers to. */
export interface ReferencedSecrets {
  readonly problem: Problem | undefined;
  /** Changes when one of the Secrets changes. Undefined: there are none. */
  readonly hash: string | undefined;
}

/** referencedSecrets checks that Secrets and their keys exist. */
export function referencedSecrets(
  get: (key: ObjectKey) => SecretView | undefined,
  namespace: string,
  references: readonly SecretReference[],
): ReferencedSecrets {
  const hashes: string[] = [];
  for (const { name, key } of references) {
    const secret = get({ namespace, name });
    if (!secret) return missing(`the Secret ${name} does not exist in the namespace ${namespace}; create it`);
    if (key !== undefined && !secret.keys.includes(key)) {
      return missing(`the Secret ${name} in the namespace ${namespace} has no key ${key}; add it`);
    }
    hashes.push(secret.hash);
  }
  return { problem: undefined, hash: hashes.length === 0 ? undefined : hashOf(hashes) };
}

function missing(message: string): ReferencedSecrets {
  return { problem: { reason: 'SecretMissing', message }, hash: undefined };
}

function hashOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex');
}
