import { type CertificateWithKey, issueCertificate } from '@bowline/machinery';
import { BowlineError } from '@bowline/runtime';
import { accountToken } from './account-token.ts';
import { auditFolder, readAuditLog } from './audit/audit-log.ts';
import { connectClient } from './connect-client.ts';
import type { AccountIdentity, ControlPlaneAccess, Identity } from './control-plane.ts';
import { type KubeconfigDocument, kubeconfigDocument } from './kubeconfig.ts';
import { readAdminToken, readAuthority } from './pki.ts';

/** Attachment holds what another process or thread on this machine needs to use a control plane. It survives JSON. */
export interface Attachment {
  readonly kind: ControlPlaneAccess['kind'];
  readonly url: string;
  readonly folder: string;
  readonly version: string;
}

/** attachmentOf returns the value to pass to another process or thread so that it can call `attachControlPlane`. */
export function attachmentOf(controlPlane: ControlPlaneAccess & { readonly folder: string }): Attachment {
  const { kind, url, folder, version } = controlPlane;
  return { kind, url, folder, version };
}

/** attachControlPlane returns access to a control plane that another process or thread on this machine runs. */
export async function attachControlPlane(attachment: Attachment): Promise<ControlPlaneAccess> {
  const authority = await readAuthority(attachment.folder);
  if (!authority) {
    throw new BowlineError(
      'BOWLINE_CONTROL_PLANE_GONE',
      `cannot attach to the control plane in ${attachment.folder}: its certificates are missing, because it was stopped by the process that started it; start it again`,
    );
  }
  return accessTo(attachment, authority, await readAdminToken(attachment.folder));
}

/**
 * accessTo issues credentials from the authority and reads the audit log in the folder. If an administrator token
 * exists, the administrator's kubeconfig uses it and no certificate is issued.
 */
export function accessTo(
  { kind, url, folder, version }: Attachment,
  authority: CertificateWithKey,
  adminToken?: string,
): ControlPlaneAccess {
  const withCertificate = async (user: string, groups: readonly string[]): Promise<KubeconfigDocument> =>
    kubeconfigDocument({
      server: url,
      authorityPem: authority.certificatePem,
      user,
      credentials: await issueCertificate({
        authority,
        commonName: user,
        organizations: groups,
        usages: ['client'],
      }),
    });
  const withSecret = (user: string, token: string, namespace?: string): KubeconfigDocument =>
    kubeconfigDocument({
      server: url,
      authorityPem: authority.certificatePem,
      user,
      credentials: { token },
      namespace,
    });
  let admin: Promise<KubeconfigDocument> | undefined;
  const asAdmin = (): Promise<KubeconfigDocument> => {
    admin ??=
      adminToken === undefined
        ? withCertificate('admin', ['system:masters'])
        : Promise.resolve(withSecret('admin', adminToken));
    return admin;
  };
  const withToken = async (identity: AccountIdentity): Promise<KubeconfigDocument> => {
    const { namespace, name } = identity.serviceAccount;
    await using client = await connectClient(await asAdmin());
    return withSecret(name, await accountToken(client, identity), namespace);
  };
  return {
    kind,
    url,
    version,
    kubeconfig(identity: Identity) {
      if (identity === 'admin') return asAdmin();
      if ('user' in identity) return withCertificate(identity.user, identity.groups ?? []);
      return withToken(identity);
    },
    audit: (since) => readAuditLog(auditFolder(folder), since),
  };
}
