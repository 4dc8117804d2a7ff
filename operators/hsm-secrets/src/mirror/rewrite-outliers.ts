import type { MetadataInput, SecretMetadata } from '../token/token-service.ts';
import { askDevices, type Devices, type Reply } from './devices.ts';
import { readWinner } from './read-from-devices.ts';
import type { Outlier, Winner } from './resolve.ts';

/** Rewrite is the content of a path to write to the devices that do not have it. */
export interface Rewrite {
  readonly path: string;
  readonly winner: Winner;
  readonly outliers: readonly Outlier[];
}

/**
 * rewriteOutliers writes the content of the winner to the outliers, with its version and time, and returns their
 * replies. A device whose content has changed in the meantime replies with VersionMismatch and keeps it.
 */
export async function rewriteOutliers(
  { path, winner, outliers }: Rewrite,
  devices: Pick<Devices, 'tokens'>,
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, Reply<unknown>>> {
  const serials = outliers.map(({ serial }) => serial);
  const replaces = new Map(outliers.map((outlier) => [outlier.serial, outlier.replaces]));
  const { version, timestamp } = winner;
  const options = (serial: string) => ({ replaces: replaces.get(serial), version, timestamp });
  if (winner.found.kind === 'tombstone')
    return askDevices(
      serials,
      devices,
      (token, serial) => token.remove(path, undefined, options(serial), signal),
      signal,
    );
  const source = await readWinner(path, winner, devices, signal);
  if ('error' in source) return new Map(serials.map((serial) => [serial, source]));
  const { data, metadata } = source.value;
  return askDevices(
    serials,
    devices,
    (token, serial) => token.write(path, data, inputOf(metadata), options(serial), signal),
    signal,
  );
}

/** inputOf returns the part of the metadata that a writer chooses. */
export function inputOf({ description, labels, format, dataType, source }: SecretMetadata): MetadataInput {
  return { description, labels, format, dataType, source };
}
