import type { SpireServer } from '../api/spire-server.ts';
import { plugin } from './plugin.ts';

type Vault = NonNullable<NonNullable<SpireServer['spec']['upstreamAuthority']>['vault']>;

/** VAULT_CA_DIR is the folder of the CA of Vault in the pods of the server. */
export const VAULT_CA_DIR = '/run/spire/vault-ca';

/** VAULT_TOKEN_DIR is the folder of the token for Vault in the pods of the server. */
export const VAULT_TOKEN_DIR = '/var/run/secrets/vault';

/** VAULT_TOKEN is the file name of the token for Vault. */
export const VAULT_TOKEN = 'token';

/** upstreamConfig returns the plugin that lets another authority sign the CA; undefined if the server signs it itself. */
export function upstreamConfig(
  { upstreamAuthority }: SpireServer['spec'],
  namespace: string,
): readonly object[] | undefined {
  const { vault, certManager } = upstreamAuthority ?? {};
  if (vault) return plugin('vault', vaultConfig(vault));
  if (!certManager) return undefined;
  const { issuerName, issuerKind, issuerGroup } = certManager;
  return plugin('cert-manager', {
    issuer_group: issuerGroup,
    issuer_kind: issuerKind,
    issuer_name: issuerName,
    namespace,
  });
}

function vaultConfig({ address, namespace, pkiMountPoint, caSecretRef, kubernetesAuth }: Vault): object {
  return {
    vault_addr: address,
    namespace,
    pki_mount_point: pkiMountPoint,
    ca_cert_path: caSecretRef && `${VAULT_CA_DIR}/${caSecretRef.key}`,
    k8s_auth: {
      k8s_auth_mount_point: kubernetesAuth.mountPoint,
      k8s_auth_role_name: kubernetesAuth.role,
      token_path: `${VAULT_TOKEN_DIR}/${VAULT_TOKEN}`,
    },
  };
}
