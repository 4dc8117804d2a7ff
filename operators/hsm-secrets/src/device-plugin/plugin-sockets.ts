import { hash, randomBytes } from 'node:crypto';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { BowlineError } from '@bowline/machinery';
import { GROUP, resourceName } from '../api/names.ts';

/** The kernel has 108 bytes for the path of a socket, the last of which is a zero. */
const MAX_PATH_BYTES = 107;
const OWNER_DIGITS = 8;
const SERIAL_DIGITS = 16;

/**
 * newSocketPath returns the path of a new socket for the device. It contains the serial number, if the path has room
 * for it, and is never used twice: closing a server removes the file at its path, which must not be that of a successor.
 */
export function newSocketPath(folder: string, owner: string, serialNumber: string): string {
  const name = resourceName(serialNumber).slice(GROUP.length + 1);
  const unique = randomBytes(4).toString('hex');
  const candidates = [name, digits(serialNumber, SERIAL_DIGITS)].map((part) =>
    join(folder, `${prefixOf(owner)}${part}-${unique}.sock`),
  );
  const path = candidates.find((each) => Buffer.byteLength(each) <= MAX_PATH_BYTES);
  if (path !== undefined) return path;
  throw new BowlineError(
    'BOWLINE_HSM_DEVICE_PLUGIN',
    `cannot create a socket in ${folder}: its path would exceed ${MAX_PATH_BYTES} bytes; mount kubelet's folder at a shorter path`,
  );
}

/** removeStaleSockets removes the sockets that an earlier process of the same owner left. */
export async function removeStaleSockets(folder: string, owner: string): Promise<void> {
  const prefix = prefixOf(owner);
  const names = await readdir(folder).catch(() => []);
  const stale = names.filter((name) => name.startsWith(prefix) && name.endsWith('.sock'));
  await Promise.all(stale.map((name) => rm(join(folder, name), { force: true })));
}

/** The folder has the sockets of other plugins, and of the discovery of other HSMDevices. */
function prefixOf(owner: string): string {
  return `hsm-${digits(owner, OWNER_DIGITS)}-`;
}

function digits(text: string, count: number): string {
  return hash('sha256', text, 'hex').slice(0, count);
}
