import { Secret } from '@bowline/kubernetes';
import type { Client } from '@bowline/runtime/client';
import type { IgnitionSyncSpec } from '../api/ignition-sync.ts';

/** GitSpec is the part of a spec that describes the repository. */
export type GitSpec = IgnitionSyncSpec['git'];

/** SecretKeyRef names a key of a Secret. */
export interface SecretKeyRef {
  readonly name: string;
  readonly key: string;
}

/** SecretReader reads Secrets from the API server: their values are in no cache. */
export type SecretReader = Pick<Client, 'find'>;

/** GitSecrets holds the values that a source needs, by what they are used for. */
export interface GitSecrets {
  readonly sshKey?: string;
  readonly knownHosts?: string;
  readonly appKey?: string;
  readonly token?: string;
  readonly ca?: string;
  /** The keys that may sign. */
  readonly signers?: string;
}

/** SecretProblem describes a Secret or key that is missing, and what to do. */
export interface SecretProblem {
  readonly problem: string;
}

/** secretValue reads one value. `field` is the path in the spec, for the message. */
export async function secretValue(
  client: SecretReader,
  namespace: string,
  { name, key }: SecretKeyRef,
  field: string,
): Promise<{ readonly value: string } | SecretProblem> {
  const secret = await client.find(Secret, { namespace, name });
  if (!secret) return { problem: `Secret ${name} does not exist; create it, or correct ${field}` };
  const encoded = secret.data?.[key];
  if (encoded === undefined || encoded === '') {
    const state = encoded === undefined ? `has no key ${key}` : `has an empty key ${key}`;
    return { problem: `Secret ${name} ${state}; set it, or correct ${field}` };
  }
  return { value: Buffer.from(encoded, 'base64').toString('utf8') };
}

/** readGitSecrets reads all Secrets that a repository needs. The first one that is missing is the result. */
export async function readGitSecrets(
  client: SecretReader,
  namespace: string,
  git: GitSpec,
): Promise<{ readonly secrets: GitSecrets } | SecretProblem> {
  const secrets: { -readonly [use in keyof GitSecrets]: GitSecrets[use] } = {};
  for (const { use, ref, field } of secretRefs(git)) {
    const read = await secretValue(client, namespace, ref, field);
    if ('problem' in read) return read;
    secrets[use] = read.value;
  }
  return { secrets };
}

function secretRefs(git: GitSpec): readonly { use: keyof GitSecrets; ref: SecretKeyRef; field: string }[] {
  const { sshKey, githubApp, token } = git.auth ?? {};
  const refs: readonly (readonly [keyof GitSecrets, SecretKeyRef | undefined, string])[] = [
    ['sshKey', sshKey?.secretRef, 'spec.git.auth.sshKey.secretRef'],
    ['knownHosts', sshKey?.knownHosts?.secretRef, 'spec.git.auth.sshKey.knownHosts.secretRef'],
    ['appKey', githubApp?.privateKeySecretRef, 'spec.git.auth.githubApp.privateKeySecretRef'],
    ['token', token?.secretRef, 'spec.git.auth.token.secretRef'],
    ['ca', git.caSecretRef, 'spec.git.caSecretRef'],
    ['signers', git.verify?.secretRef, 'spec.git.verify.secretRef'],
  ];
  return refs.flatMap(([use, ref, field]) => (ref === undefined ? [] : [{ use, ref, field }]));
}
