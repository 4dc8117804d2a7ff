import { createHash } from 'node:crypto';
import type { ObjectKey, ObjectMeta, Secret } from '@bowline/kubernetes';
import { project } from '@bowline/runtime';
import type { ProjectView } from '@bowline/runtime/cache';
import { ANNOTATIONS } from '../api/names.ts';
import type { Problem } from './validity.ts';

/** SecretView is what the cache keeps of a Secret: no values. */
export interface SecretView {
  /** What tells our Secrets from others. */
  readonly metadata: Pick<ObjectMeta, 'namespace' | 'name' | 'uid' | 'labels' | 'annotations' | 'ownerReferences'>;
  readonly keys: readonly string[];
  readonly hash: string;
}

/** secretView keeps the keys of a Secret and a hash of its content. */
export const secretView: ProjectView<Secret, SecretView> = project(
  ({ metadata, data = {} }: Secret): SecretView => ({
    metadata: identityOf(metadata ?? {}),
    keys: Object.keys(data).sort(),
    hash: hashOf(Object.entries(data).sort(([a], [b]) => (a < b ? -1 : 1))),
  }),
);

function identityOf({
  namespace,
  name,
  uid,
  labels,
  annotations,
  ownerReferences,
}: ObjectMeta): SecretView['metadata'] {
  const createOnly = annotations?.[ANNOTATIONS.createOnly];
  return {
    ...{ namespace, name, uid, labels, ownerReferences },
    // Other annotations may repeat the values: kubectl stores what it last applied.
    annotations: createOnly === undefined ? undefined : { [ANNOTATIONS.createOnly]: createOnly },
  };
}

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
