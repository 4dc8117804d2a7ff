import type { IgnitionSyncSpec } from './ignition-sync.ts';

/**
 * secretNames returns the names of all Secrets that a spec names, each once, in order. Their values are used with the
 * permissions of the operator, so the author of an IgnitionSync must be allowed to read each of them.
 */
export function secretNames({ git, webhook, gateway, snapshots }: IgnitionSyncSpec): readonly string[] {
  const { sshKey, githubApp, token } = git.auth ?? {};
  const refs = [
    sshKey?.secretRef,
    sshKey?.knownHosts?.secretRef,
    githubApp?.privateKeySecretRef,
    token?.secretRef,
    git.caSecretRef,
    git.verify?.secretRef,
    webhook.secretRef,
    gateway.apiKeySecretRef,
    snapshots?.storage.s3?.credentialsSecretRef,
  ];
  return [...new Set(refs.flatMap((ref) => (ref === undefined ? [] : [ref.name])))].sort();
}
