import type { Volume, VolumeMount } from '@bowline/kubernetes/core-v1';
import type { SpireServer } from '../api/spire-server.ts';
import type { Config } from '../config.ts';
import type { SecretReference } from '../operand/referenced-secrets.ts';
import type { Problem } from '../operand/validity.ts';
import { VAULT_CA_DIR, VAULT_TOKEN, VAULT_TOKEN_DIR } from '../spire/upstream-config.ts';

type Spec = SpireServer['spec'];

/** Kubelet replaces a token before it expires, and the server reads it whenever it logs in. */
const TOKEN_SECONDS = 3600;

/** vaultVolumes returns the volumes with which the server authenticates to Vault. */
export function vaultVolumes({ upstreamAuthority }: Spec): readonly Volume[] {
  const { vault } = upstreamAuthority ?? {};
  if (!vault) return [];
  const { audience } = vault.kubernetesAuth;
  const sources = [{ serviceAccountToken: { audience, expirationSeconds: TOKEN_SECONDS, path: VAULT_TOKEN } }];
  return [
    { name: 'vault-token', projected: { sources } },
    ...(vault.caSecretRef ? [{ name: 'vault-ca', secret: { secretName: vault.caSecretRef.name } }] : []),
  ];
}

/** vaultMounts returns the mounts of vaultVolumes. */
export function vaultMounts({ upstreamAuthority }: Spec): readonly VolumeMount[] {
  const { vault } = upstreamAuthority ?? {};
  if (!vault) return [];
  return [
    { name: 'vault-token', mountPath: VAULT_TOKEN_DIR, readOnly: true },
    ...(vault.caSecretRef ? [{ name: 'vault-ca', mountPath: VAULT_CA_DIR, readOnly: true }] : []),
  ];
}

/** upstreamSecrets returns the Secrets that the server needs for its upstream authority, and reads only when it starts. */
export function upstreamSecrets({ upstreamAuthority }: Spec): readonly SecretReference[] {
  const reference = upstreamAuthority?.vault?.caSecretRef;
  return reference ? [reference] : [];
}

/** certManagerProblem returns why the server cannot use cert-manager: nobody can grant permissions that they do not have. */
export function certManagerProblem(
  { upstreamAuthority }: Spec,
  { certificateRequests }: Pick<Config, 'certificateRequests'>,
): Problem | undefined {
  if (!upstreamAuthority?.certManager || certificateRequests) return undefined;
  return {
    reason: 'InvalidConfiguration',
    message:
      'upstreamAuthority.certManager needs permissions for CertificateRequests, which the operator does not have; set its setting certificateRequests to true',
  };
}
