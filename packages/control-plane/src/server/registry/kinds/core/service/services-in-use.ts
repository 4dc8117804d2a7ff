import type { Service } from '@bowline/kubernetes';
import type { Storage } from '../../../../storage/storage.ts';
import { objectOf, type Stored } from '../../../../storage/stored.ts';

/** ServicesInUse tracks which Service holds which address and port. */
export interface ServicesInUse {
  /** holderOf returns the key of the Service that holds an address, or a port such as `TCP/30000`. */
  holderOf(address: string): string | undefined;
}

const known = new WeakMap<Storage, ServicesInUse>();

/** servicesInUse reads the stored Services once, and follows every change from then on. */
export function servicesInUse(storage: Storage): ServicesInUse {
  let inUse = known.get(storage);
  if (!inUse) {
    inUse = follow(storage);
    known.set(storage, inUse);
  }
  return inUse;
}

function follow(storage: Storage): ServicesInUse {
  const holders = new Map<string, string>();
  const take = (stored: Stored): void => {
    for (const address of takenBy(stored)) holders.set(address, stored.key);
  };
  for (const stored of storage.select('services')) take(stored);
  storage.watch('services', ({ previous, current }) => {
    for (const address of previous ? takenBy(previous) : [])
      if (holders.get(address) === previous?.key) holders.delete(address);
    if (current) take(current);
  });
  return { holderOf: (address) => holders.get(address) };
}

function takenBy(stored: Stored): string[] {
  const { spec = {} } = objectOf(stored) as Service;
  const ports = (spec.ports ?? []).flatMap(({ nodePort, protocol = 'TCP' }) =>
    nodePort ? [`${protocol}/${nodePort}`] : [],
  );
  const check = spec.healthCheckNodePort ? [`TCP/${spec.healthCheckNodePort}`] : [];
  return [...(spec.clusterIPs ?? []).filter((address) => address !== 'None'), ...ports, ...check];
}
