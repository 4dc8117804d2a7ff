import type { Secret } from '@bowline/kubernetes';
import { isObject } from '@bowline/machinery';
import type { SoftwareTokenSnapshot } from '../token/software-token.ts';

/** SIMULATION_SECRET is the Secret in the manager's namespace that holds the simulated devices and their tokens. */
export const SIMULATION_SECRET = 'hsm-secrets-simulation';

/** SimulatedDevice is a device that exists only in the simulation. */
export interface SimulatedDevice {
  readonly serialNumber: string;
  /** The node that it is plugged into, or was last. */
  readonly nodeName: string;
  readonly isPlugged: boolean;
}

const DEVICE_PREFIX = 'device.';

/** deviceEntry returns the entry of a device in the data of the Secret. One entry per device: no change overwrites another. */
export function deviceEntry({ serialNumber, nodeName, isPlugged }: SimulatedDevice): readonly [string, string] {
  return [`${DEVICE_PREFIX}${serialNumber}`, encode({ nodeName, isPlugged })];
}

/** simulatedDevices returns the devices of the simulation, ordered by serial number. Entries that cannot be read are skipped. */
export function simulatedDevices(secret: Pick<Secret, 'data'> | undefined): readonly SimulatedDevice[] {
  return Object.entries(secret?.data ?? {})
    .flatMap(([key, value]) => {
      const device = key.startsWith(DEVICE_PREFIX) ? decode(value) : undefined;
      if (!isObject(device) || typeof device.nodeName !== 'string') return [];
      const serialNumber = key.slice(DEVICE_PREFIX.length);
      return [{ serialNumber, nodeName: device.nodeName, isPlugged: device.isPlugged === true }];
    })
    .sort((a, b) => (a.serialNumber < b.serialNumber ? -1 : 1));
}

const CONTENT_PREFIX = 'content.';

/** contentEntry returns the entry of a secret that new tokens have. */
export function contentEntry(path: string, values: Readonly<Record<string, string>>): readonly [string, string] {
  return [`${CONTENT_PREFIX}${path}`, encode(values)];
}

/** initialContent returns the secrets that new tokens have, by path. */
export function initialContent(
  secret: Pick<Secret, 'data'> | undefined,
): ReadonlyMap<string, Readonly<Record<string, Buffer>>> {
  const entries = Object.entries(secret?.data ?? {}).filter(([key]) => key.startsWith(CONTENT_PREFIX));
  return new Map(
    entries.map(([key, value]) => {
      const values = Object.entries((decode(value) ?? {}) as Readonly<Record<string, unknown>>);
      return [
        key.slice(CONTENT_PREFIX.length),
        Object.fromEntries(values.map(([name, text]) => [name, Buffer.from(String(text))])),
      ];
    }),
  );
}

const TOKEN_PREFIX = 'token.';

/** tokenEntry returns the entry of the state of a device's token. */
export function tokenEntry(serialNumber: string, snapshot: SoftwareTokenSnapshot): readonly [string, string] {
  return [`${TOKEN_PREFIX}${serialNumber}`, encode(snapshot)];
}

/** storedToken returns the stored state of a device's token; undefined if there is none. */
export function storedToken(
  secret: Pick<Secret, 'data'> | undefined,
  serialNumber: string,
): SoftwareTokenSnapshot | undefined {
  const text = secret?.data?.[`${TOKEN_PREFIX}${serialNumber}`];
  // The manager alone writes it.
  return text === undefined ? undefined : (decode(text) as SoftwareTokenSnapshot | undefined);
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64');
}

function decode(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, 'base64').toString('utf8'));
  } catch {
    return undefined;
  }
}
