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
  /** The keys whose values cannot be written between quotes into a configuration file. */
  readonly unquotable: readonly string[];
}

/** secretView keeps the keys of a Secret and a hash of its content. */
export const secretView: ProjectView<Secret, SecretView> = project(
  ({ metadata, data = {} }: Secret): SecretView => ({
    metadata: identityOf(metadata ?? {}),
    keys: Object.keys(data).sort(),
    hash: contentHash(data),
    unquotable: Object.keys(data)
      .filter((key) => isUnquotable(data[key] ?? ''))
      .sort(),
  }),
);

/**
 * SPIRE replaces a variable with its value before it parses the file, so quotes, backslashes and control characters, such as
 * the newline at the end of a file, would end or break the string. The parser also gives a meaning to a dollar and a brace.
 */
const BREAKS_STRINGS = /["\\\p{Cc}\uFFFD]|\$\{/u;

function isUnquotable(base64: string): boolean {
  return BREAKS_STRINGS.test(Buffer.from(base64, 'base64').toString('utf8'));
}

/** contentHash returns the hash of the content of a Secret, whatever the order of its keys. */
export function contentHash(data: Readonly<Record<string, string>>): string {
  return hashOf(Object.entries(data).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Other annotations may repeat the values: kubectl stores what it last applied. */
const KEPT_ANNOTATIONS: readonly string[] = [ANNOTATIONS.createOnly, ANNOTATIONS.issued];

function identityOf({
  namespace,
  name,
  uid,
  labels,
  annotations,
  ownerReferences,
}: ObjectMeta): SecretView['metadata'] {
  const kept = Object.entries(annotations ?? {}).filter(([key]) => KEPT_ANNOTATIONS.includes(key));
  return {
    ...{ namespace, name, uid, labels, ownerReferences },
    annotations: kept.length === 0 ? undefined : Object.fromEntries(kept),
  };
}

/** SecretReference names a Secret in the namespace of the operands and, if only one is needed, a key of it. */
export interface SecretReference {
  readonly name: string;
  readonly key?: string | undefined;
  /** Whether the value of the key replaces a variable in a configuration file. Defaults to false. */
  readonly isVariable?: boolean | undefined;
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
  for (const { name, key, isVariable } of references) {
    const secret = get({ namespace, name });
    if (!secret) return missing(`the Secret ${name} does not exist in the namespace ${namespace}; create it`);
    if (key !== undefined && !secret.keys.includes(key)) {
      return missing(`the Secret ${name} in the namespace ${namespace} has no key ${key}; add it`);
    }
    if (key !== undefined && isVariable && secret.unquotable.includes(key)) return unusable(name, key, namespace);
    hashes.push(secret.hash);
  }
  return { problem: undefined, hash: hashes.length === 0 ? undefined : hashOf(hashes) };
}

function unusable(name: string, key: string, namespace: string): ReferencedSecrets {
  const message = `SPIRE cannot use the value of the key ${key} of the Secret ${name} in the namespace ${namespace}, because it contains a quote, a backslash, a line break or another control character, or a dollar before a brace; choose another password, and check that it does not end with a line break`;
  return { problem: { reason: 'InvalidConfiguration', message }, hash: undefined };
}

function missing(message: string): ReferencedSecrets {
  return { problem: { reason: 'SecretMissing', message }, hash: undefined };
}

/** hashOf returns the hash of a value as JSON. */
export function hashOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex');
}
