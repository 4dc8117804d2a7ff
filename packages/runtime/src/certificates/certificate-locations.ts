import { type FSWatcher, watch } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ObjectKey, Secret } from '@bowline/kubernetes';
import type { Cache } from '../cache/cache.ts';
import { project } from '../cache/view.ts';
import { BowlineError } from '../errors/bowline-error.ts';
import { mountedVersion } from '../operations/mounted-version.ts';
import { CERTIFICATE_TERMS, type CertificateTerms } from './certificate-profile.ts';
import { viewSecret } from './certificate-state.ts';
import type { CertificateLocation } from './external-certificates.ts';

/** The polling interval, in case a notification is missed (other file systems, no watches left). */
const FILE_POLL_INTERVAL_MS = 30_000;
const SECRET_POLL_INTERVAL_MS = 3_600_000;

/**
 * folderLocation returns the location of a folder with tls.crt, tls.key and optionally ca.crt, such as a mounted
 * Secret. The folder is watched, not the files: the kubelet replaces them by changing a symbolic link, which a watch of
 * a file does not detect.
 */
export function folderLocation(folder: string, terms: CertificateTerms = CERTIFICATE_TERMS): CertificateLocation {
  const read = async (from: string, name: string, optional = false): Promise<string | undefined> => {
    try {
      return await readFile(join(from, name), 'utf8');
    } catch (cause) {
      if (optional && isMissing(cause)) return undefined;
      throw new BowlineError(
        terms.codes.unusable,
        `cannot read the ${terms.noun}: ${name} in ${folder} is not readable; check the path and its permissions`,
        { cause },
      );
    }
  };
  return {
    name: `the folder ${folder}`,
    pollIntervalMs: FILE_POLL_INTERVAL_MS,
    ready: () => Promise.resolve(),
    async read() {
      const from = await mountedVersion(folder);
      // Sequentially, so that the same missing file is always reported first.
      return {
        certificatePem: await read(from, 'tls.crt'),
        keyPem: await read(from, 'tls.key'),
        bundlePem: await read(from, 'ca.crt', true),
      };
    },
    watch(changed) {
      let watcher: FSWatcher | undefined;
      try {
        watcher = watch(folder, { persistent: false }, changed);
        // A failed watch is compensated by polling; it must not crash the process.
        watcher.on('error', () => watcher?.close());
      } catch {
        // The folder does not exist yet, or the system has no watches left.
      }
      return { [Symbol.dispose]: () => watcher?.close() };
    },
  };
}

const view = project(viewSecret);

/**
 * secretLocation returns the location of a Secret of type kubernetes.io/tls that is managed externally, for example by
 * cert-manager.
 */
export function secretLocation(
  cache: Pick<Cache, 'informer'>,
  key: ObjectKey,
  terms: CertificateTerms = CERTIFICATE_TERMS,
): CertificateLocation {
  const name = `the Secret ${key.namespace}/${key.name}`;
  const informer = cache.informer(Secret, {
    view,
    namespaces: [key.namespace ?? ''],
    fieldSelector: `metadata.name=${key.name}`,
  });
  return {
    name,
    pollIntervalMs: SECRET_POLL_INTERVAL_MS,
    ready: (signal) => informer.synced(signal),
    watch: (changed) => informer.subscribe(changed),
    read() {
      const secret = informer.get(key);
      if (!secret) {
        const problem = `cannot read the ${terms.noun}: ${name} does not exist; create it, or wait for cert-manager`;
        return Promise.reject(new BowlineError(terms.codes.unusable, problem));
      }
      const text = (field: string): string | undefined => {
        const value = secret.data[field];
        return value ? Buffer.from(value, 'base64').toString('utf8') : undefined;
      };
      return Promise.resolve({
        certificatePem: text('tls.crt'),
        keyPem: text('tls.key'),
        bundlePem: text('ca.crt'),
      });
    },
  };
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
