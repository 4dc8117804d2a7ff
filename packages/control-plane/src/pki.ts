import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type CertificateWithKey,
  createCertificateAuthority,
  createKeyPair,
  issueCertificate,
} from '@bowline/machinery';

const YEAR_MS = 365 * 24 * 3_600_000;

/** ServerPki holds the certificates and keys that an API server needs. */
export interface ServerPki {
  readonly authority: CertificateWithKey;
  /** The key pair that signs ServiceAccount tokens. */
  readonly serviceAccounts: { readonly publicKeyPem: string; readonly privateKeyPem: string };
  /** Served by the API server, the controller manager and the scheduler. */
  readonly server: CertificateWithKey;
}

/** Pki holds every certificate and key of a control plane of several processes. */
export interface Pki extends ServerPki {
  readonly admin: CertificateWithKey;
  readonly controllerManager: CertificateWithKey;
  readonly scheduler: CertificateWithKey;
}

/**
 * createServerPki issues what an API server needs. It reuses what is `kept` from an earlier run, so that kubeconfigs
 * and tokens stay valid.
 */
export async function createServerPki(kept?: PersistedPki): Promise<ServerPki> {
  const authority =
    kept?.authority ??
    (await createCertificateAuthority({ commonName: 'bowline-control-plane', validForMs: 10 * YEAR_MS }));
  const [serviceAccounts, server] = await Promise.all([
    kept?.serviceAccounts ?? createKeyPair(),
    issueCertificate({
      authority,
      commonName: 'kube-apiserver',
      dnsNames: ['localhost', 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc'],
      ipAddresses: ['127.0.0.1', '10.0.0.1'],
      usages: ['server'],
      validForMs: YEAR_MS,
    }),
  ]);
  return { authority, serviceAccounts, server };
}

/** createPki issues the certificates and keys that a control plane of several processes needs. */
export async function createPki(kept?: PersistedPki): Promise<Pki> {
  const pki = await createServerPki(kept);
  const client = (commonName: string, organizations: readonly string[] = []): Promise<CertificateWithKey> =>
    issueCertificate({
      authority: pki.authority,
      commonName,
      organizations,
      usages: ['client'],
      validForMs: YEAR_MS,
    });
  const [admin, controllerManager, scheduler] = await Promise.all([
    client('admin', ['system:masters']),
    client('system:kube-controller-manager'),
    client('system:kube-scheduler'),
  ]);
  return { ...pki, admin, controllerManager, scheduler };
}

/** PersistedPki holds what a later run in the same folder reuses. */
export type PersistedPki = Pick<ServerPki, 'authority' | 'serviceAccounts'>;

/** PkiFiles holds the paths that are passed to the components. */
export interface PkiFiles {
  readonly authority: { readonly certificate: string; readonly key: string };
  readonly server: { readonly certificate: string; readonly key: string };
  readonly serviceAccounts: { readonly publicKey: string; readonly privateKey: string };
  /** The administrator's token, if one exists. */
  readonly adminToken: string;
}

/** pkiFiles returns the paths of the files in a control plane's folder. */
export function pkiFiles(folder: string): PkiFiles {
  const file = (name: string): string => join(folder, 'pki', name);
  return {
    authority: { certificate: file('ca.crt'), key: file('ca.key') },
    server: { certificate: file('server.crt'), key: file('server.key') },
    serviceAccounts: { publicKey: file('service-accounts.pub'), privateKey: file('service-accounts.key') },
    adminToken: file('admin.token'),
  };
}

/** writePki writes the files that the components read, readable by their owner only. */
export async function writePki(folder: string, pki: ServerPki, adminToken?: string): Promise<PkiFiles> {
  const files = pkiFiles(folder);
  await mkdir(join(folder, 'pki'), { recursive: true, mode: 0o700 });
  await chmod(join(folder, 'pki'), 0o700);
  const write = (path: string, text: string): Promise<void> => writeFile(path, text, { mode: 0o600 });
  await Promise.all([
    write(files.authority.certificate, pki.authority.certificatePem),
    write(files.authority.key, pki.authority.keyPem),
    write(files.server.certificate, pki.server.certificatePem),
    write(files.server.key, pki.server.keyPem),
    write(files.serviceAccounts.publicKey, pki.serviceAccounts.publicKeyPem),
    write(files.serviceAccounts.privateKey, pki.serviceAccounts.privateKeyPem),
    ...(adminToken === undefined ? [] : [write(files.adminToken, adminToken)]),
  ]);
  return files;
}

/**
 * readAuthority reads the authority that an earlier run, or another process, wrote. It returns undefined if none
 * exists.
 */
export async function readAuthority(folder: string): Promise<CertificateWithKey | undefined> {
  const { authority } = pkiFiles(folder);
  const [certificatePem, keyPem] = await Promise.all([
    readIfExists(authority.certificate),
    readIfExists(authority.key),
  ]);
  return certificatePem && keyPem ? { certificatePem, keyPem } : undefined;
}

/**
 * readAdminToken reads the token that an earlier run, or another process, wrote. It returns undefined if none exists.
 */
export function readAdminToken(folder: string): Promise<string | undefined> {
  return readIfExists(pkiFiles(folder).adminToken);
}

/** readPersistedPki reads what a later run in the same folder must reuse. */
export async function readPersistedPki(folder: string): Promise<PersistedPki | undefined> {
  const { serviceAccounts } = pkiFiles(folder);
  const [authority, publicKeyPem, privateKeyPem] = await Promise.all([
    readAuthority(folder),
    readIfExists(serviceAccounts.publicKey),
    readIfExists(serviceAccounts.privateKey),
  ]);
  return authority && publicKeyPem && privateKeyPem
    ? { authority, serviceAccounts: { publicKeyPem, privateKeyPem } }
    : undefined;
}

async function readIfExists(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
