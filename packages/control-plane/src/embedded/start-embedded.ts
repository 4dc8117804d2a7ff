import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { BowlineError, createKeyPair, systemClock, systemRandom } from '@bowline/machinery';
import { auditFolder } from '../audit/audit-log.ts';
import type { ControlPlaneAccess } from '../control-plane.ts';
import { lockDataDir } from '../lock-data-dir.ts';
import { createServerPki, readAdminToken, readPersistedPki, type ServerPki, writePki } from '../pki.ts';
import { requirePort } from '../ports.ts';
import { AuditTrail } from '../server/audit/audit-trail.ts';
import { MASTERS } from '../server/authentication/user-info.ts';
import { SERVER_VERSION } from '../server/discovery/version-route.ts';
import { AuditFile } from './audit-file.ts';
import { AuditMemory } from './audit-memory.ts';
import { EmbeddedControlPlane } from './embedded-control-plane.ts';
import type { EmbeddedOptions } from './options.ts';
import { Persistence } from './persistence.ts';
import { RunningParts } from './running-parts.ts';

/** startEmbedded starts a control plane in this process. */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedControlPlane> {
  const startedAt = systemClock.monotonic();
  const { clock = systemClock, random = systemRandom, signal, onError = () => {} } = options;
  const cleanUps: (() => Promise<unknown> | unknown)[] = [];
  const cleanUp = async (): Promise<void> => {
    for (const work of cleanUps.splice(0).toReversed()) await work();
  };
  try {
    const dataDir = options.dataDir === undefined ? undefined : resolve(options.dataDir);
    if (dataDir !== undefined) {
      const lock = await lockDataDir(dataDir);
      cleanUps.push(() => lock.release());
    }
    const isServed = options.listen ?? true;
    const port = isServed ? await choosePort(options.port, dataDir) : undefined;
    const secrets = isServed ? await serverSecrets(dataDir, cleanUps) : await processSecrets(dataDir);
    const memory = new AuditMemory();
    const file = isServed ? new AuditFile(auditFolder(secrets.folder)) : undefined;
    if (file) cleanUps.push(() => file[Symbol.dispose]());
    const { pki, adminToken } = secrets;
    const running = new RunningParts({
      server: {
        clock,
        random,
        tokenKey: secrets.tokenKey,
        tokens: adminToken === undefined ? [] : [{ token: adminToken, user: { username: 'admin', groups: [MASTERS] } }],
        resolveService: options.resolveService,
        openApiDocuments: options.openApiDocuments,
        audit: new AuditTrail({ clock, write: (event) => (file ?? memory).write(event), onError }),
        onError,
      },
      listen: isServed
        ? {
            port,
            tls:
              pki && !options.plainHttp
                ? {
                    certificate: pki.server.certificatePem,
                    key: pki.server.keyPem,
                    clientAuthority: pki.authority.certificatePem,
                  }
                : undefined,
          }
        : undefined,
      persistence: new Persistence(dataDir === undefined ? undefined : join(dataDir, 'data')),
      components: ['kube-apiserver', 'kube-controller-manager'],
      controllers: {
        workloads: options.workloads ?? true,
        scheduler: options.scheduler ?? true,
        rootCertificate: pki?.authority.certificatePem,
      },
      nodes: options.nodes ?? 2,
      volumesFolder: secrets.folder === '' ? undefined : join(secrets.folder, 'volumes'),
    });
    cleanUps.push(() => running.stop());
    const prepared = systemClock.monotonic();
    await running.start('kube-apiserver');
    const servingSince = systemClock.monotonic();
    signal?.throwIfAborted();
    await running.start('kube-controller-manager');
    await running.startNodes(signal);
    const done = systemClock.monotonic();
    const { url } = running;
    if (url !== undefined && dataDir !== undefined) await writeFile(portFile(dataDir), new URL(url).port);
    const access =
      url !== undefined && pki
        ? (await import('../access.ts')).accessTo(
            { kind: 'embedded', url, folder: secrets.folder, version: SERVER_VERSION },
            pki.authority,
            adminToken,
          )
        : ownAccess(memory);
    return new EmbeddedControlPlane({
      access,
      running,
      folder: secrets.folder,
      timings: {
        binariesMs: 0,
        prepareMs: prepared - startedAt,
        apiServerMs: servingSince - prepared,
        controllersMs: done - servingSince,
        totalMs: done - startedAt,
      },
      stop: cleanUp,
    });
  } catch (error) {
    await cleanUp();
    throw error;
  }
}

function portFile(dataDir: string): string {
  return join(dataDir, 'port');
}

/** choosePort returns the requested port, or that of an earlier run so that kubeconfigs keep working, or any. */
async function choosePort(requested: number | undefined, dataDir: string | undefined): Promise<number | undefined> {
  if (requested !== undefined) {
    await requirePort(requested);
    return requested;
  }
  const kept = dataDir === undefined ? '' : await readFile(portFile(dataDir), 'utf8').catch(() => '');
  if (kept === '') return undefined;
  const port = Number(kept);
  const isFree = await requirePort(port).then(
    () => true,
    () => false,
  );
  return isFree ? port : undefined;
}

interface Secrets {
  /** Empty if nothing is written to disk. */
  readonly folder: string;
  /** The private key that signs tokens. */
  readonly tokenKey: string;
  readonly pki?: ServerPki | undefined;
  readonly adminToken?: string | undefined;
}

/**
 * serverSecrets returns the secrets of a server that listens; they are in its folder, so that other processes can attach to it.
 */
async function serverSecrets(dataDir: string | undefined, cleanUps: (() => unknown)[]): Promise<Secrets> {
  const folder = dataDir ?? (await mkdtemp(join(tmpdir(), 'bowline-control-plane-')));
  if (dataDir === undefined) cleanUps.push(() => rm(folder, { recursive: true, force: true }));
  const [kept, token] = await Promise.all([readPersistedPki(folder), readAdminToken(folder)]);
  const pki = await createServerPki(kept);
  const adminToken = token ?? randomBytes(24).toString('base64url');
  await writePki(folder, pki, adminToken);
  return { folder, tokenKey: pki.serviceAccounts.privateKeyPem, pki, adminToken };
}

/** processSecrets returns the secrets of a server in this process alone: only the key of its tokens. */
async function processSecrets(dataDir: string | undefined): Promise<Secrets> {
  const kept = dataDir === undefined ? undefined : await readPersistedPki(dataDir);
  const { privateKeyPem } = kept?.serviceAccounts ?? (await createKeyPair());
  return { folder: dataDir ?? '', tokenKey: privateKeyPem };
}

/** ownAccess returns the access to a control plane without an address. */
function ownAccess(audit: AuditMemory): ControlPlaneAccess {
  return {
    kind: 'embedded',
    url: '',
    version: SERVER_VERSION,
    kubeconfig: () =>
      Promise.reject(
        new BowlineError(
          'BOWLINE_CONTROL_PLANE_OPTIONS',
          'a control plane that was started with `listen: false` has no address for a kubeconfig; use `transport`, or let it listen',
        ),
      ),
    audit: (since = 0) => Promise.resolve(audit.since(since)),
  };
}
