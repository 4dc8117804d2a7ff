import type { Dirent } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { BowlineError, glob } from '@bowline/machinery';
import type { HSMDevice } from '../api/hsm-device.ts';
import type { FoundDevice } from './found-device.ts';

type DevicePath = NonNullable<NonNullable<HSMDevice['spec']['discovery']>['devicePath']>;

const DEV = '/dev';
/** More device nodes than any node has; a glob such as `/dev/**` must not search for ever. */
const MAX_ENTRIES = 10_000;
/** The maximum length in a report, which one such path would make invalid. */
const MAX_PATH_LENGTH = 1_024;

/** scanDevicePath returns the device nodes whose path matches. */
export async function scanDevicePath({ path, permissions }: DevicePath, dev: string): Promise<readonly FoundDevice[]> {
  const pattern = glob(path);
  const bits = permissions === undefined ? 0 : Number.parseInt(permissions, 8);
  const paths = (await pathsBelow(fixedPart(path), dev)).filter(
    (each) => each.length <= MAX_PATH_LENGTH && pattern.matches(each),
  );
  const found = await Promise.all(paths.map((each) => readNode(each, dev, bits)));
  return found.filter((device) => device !== undefined);
}

/** fixedPart returns the folder above the first wildcard of a path. */
export function fixedPart(path: string): string {
  const fixed = /^[^*?]*/.exec(path)?.[0] ?? '';
  return fixed.slice(0, fixed.lastIndexOf('/')) || DEV;
}

async function pathsBelow(start: string, dev: string): Promise<readonly string[]> {
  const folders = [start];
  const paths: string[] = [];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of await entriesOf(folder, dev)) {
      const path = `${folder}/${entry.name}`;
      if (entry.isDirectory()) folders.push(path);
      else paths.push(path);
      if (paths.length > MAX_ENTRIES)
        throw new BowlineError(
          'BOWLINE_HSM_SCAN',
          `more than ${MAX_ENTRIES} files below ${start}; use a longer devicePath`,
        );
    }
  }
  return paths;
}

/**
 * A folder that is missing has no devices, except for the root, which is always mounted. Any other failure is an error:
 * devices that cannot be seen are not unplugged.
 */
async function entriesOf(folder: string, dev: string): Promise<readonly Dirent[]> {
  try {
    return await readdir(onHost(folder, dev), { withFileTypes: true });
  } catch (cause) {
    if (folder !== DEV && isMissing(cause)) return [];
    const remedy = 'mount the /dev of the node, and give its path with --dev';
    throw new BowlineError('BOWLINE_HSM_SCAN', `cannot read ${onHost(folder, dev)}; ${remedy}`, { cause });
  }
}

/** A link to a device that was removed, or a folder that was replaced by a file, is missing too. */
function isMissing(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR', 'ELOOP'].includes((error as NodeJS.ErrnoException).code ?? '');
}

async function readNode(path: string, dev: string, bits: number): Promise<FoundDevice | undefined> {
  try {
    const { mode } = await stat(onHost(path, dev));
    return { devicePath: path, serialNumber: undefined, available: (mode & bits) === bits, deviceInfo: {} };
  } catch (cause) {
    if (isMissing(cause)) return undefined;
    throw new BowlineError('BOWLINE_HSM_SCAN', `cannot read ${onHost(path, dev)}; check its permissions`, { cause });
  }
}

function onHost(path: string, dev: string): string {
  return join(dev, path.slice(DEV.length));
}
