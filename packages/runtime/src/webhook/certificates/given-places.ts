import { type FSWatcher, watch } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ObjectKey, Secret } from '@bowline/kubernetes';
import type { Cache } from '../../cache/cache.ts';
import { project } from '../../cache/view.ts';
import { BowlineError } from '../../errors/bowline-error.ts';
import { mountedVersion } from '../../operations/mounted-version.ts';
import { viewSecret } from './certificate-state.ts';
import type { GivenPlace } from './given-certificates.ts';

/** A missed notification (another file system, no watches left) is made up for after this. */
const LOOK_AT_FILES_EVERY_MS = 30_000;
const LOOK_AT_SECRET_EVERY_MS = 3_600_000;

/**
 * folderPlace is a folder with tls.crt, tls.key and perhaps ca.crt, as a mounted Secret is. The folder is watched, not the
 * files: the kubelet replaces them by turning a symbolic link, which no watch of a file notices.
 */
export function folderPlace(folder: string): GivenPlace {
  const read = async (from: string, name: string, optional = false): Promise<string | undefined> => {
    try {
      return await readFile(join(from, name), 'utf8');
    } catch (cause) {
      if (optional && isMissing(cause)) return undefined;
      throw new BowlineError(
        'BOWLINE_WEBHOOK_CERTIFICATE',
        `cannot read the webhook certificate: ${name} in ${folder} is not readable; check the path and its permissions`,
        { cause },
      );
    }
  };
  return {
    name: `the folder ${folder}`,
    lookEveryMs: LOOK_AT_FILES_EVERY_MS,
    ready: () => Promise.resolve(),
    async read() {
      const from = await mountedVersion(folder);
      // One after the other: of several that are missing the same is always named.
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
        // What ends a watch is noticed by looking now and then; it must not end the process.
        watcher.on('error', () => watcher?.close());
      } catch {
        // The folder is not there yet, or the system has no watches left.
      }
      return { [Symbol.dispose]: () => watcher?.close() };
    },
  };
}

const view = project(viewSecret);

/** secretPlace is a Secret of type kubernetes.io/tls that somebody else, such as cert-manager, keeps. */
export function secretPlace(cache: Pick<Cache, 'informer'>, key: ObjectKey): GivenPlace {
  const name = `the Secret ${key.namespace}/${key.name}`;
  const informer = cache.informer(Secret, {
    view,
    namespaces: [key.namespace ?? ''],
    fieldSelector: `metadata.name=${key.name}`,
  });
  return {
    name,
    lookEveryMs: LOOK_AT_SECRET_EVERY_MS,
    ready: (signal) => informer.synced(signal),
    watch: (changed) => informer.subscribe(changed),
    read() {
      const secret = informer.get(key);
      if (!secret) {
        const problem = `cannot read the webhook certificate: ${name} does not exist; create it, or wait for cert-manager`;
        return Promise.reject(new BowlineError('BOWLINE_WEBHOOK_CERTIFICATE', problem));
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
