import { keyOf } from '@bowline/kubernetes';
import { HSMDevice } from '../api/hsm-device.ts';
import { HSMPool } from '../api/hsm-pool.ts';
import type { PoolContext } from './controller.ts';
import { someOf } from './pool-facts.ts';

/**
 * claimedSerials returns the serial numbers among the given ones that belong to the pool of an older HSMDevice, of any
 * namespace.
 */
export function claimedSerials(
  context: Pick<PoolContext, 'get' | 'list'>,
  device: HSMDevice | undefined,
  serials: Iterable<string>,
): ReadonlySet<string> {
  const claimed = new Set<string>();
  if (!device) return claimed;
  for (const serial of serials) {
    const isClaimed = context.list(HSMPool, { by: { serial } }).some((pool) => {
      const name = pool.spec.hsmDeviceRef;
      const other = context.get(HSMDevice, { namespace: pool.metadata.namespace, name });
      return other !== undefined && isOlder(other, device);
    });
    if (isClaimed) claimed.add(serial);
  }
  return claimed;
}

function isOlder(a: HSMDevice, b: HSMDevice): boolean {
  const [ageOfA, ageOfB] = [ageKey(a), ageKey(b)];
  return ageOfA < ageOfB;
}

/** The text order of two keys is the order of age; two devices of the same second are ordered by their names. */
function ageKey(device: HSMDevice): string {
  const { namespace, name } = keyOf(device);
  return `${device.metadata?.creationTimestamp} ${namespace}/${name}`;
}

/**
 * discoveryOverlap describes other HSMDevices that also find every USB device with a smart card interface; undefined if
 * there are none. It names only those of the same namespace: others may be none of the reader's business.
 */
export function discoveryOverlap(
  { list }: Pick<PoolContext, 'list'>,
  device: HSMDevice | undefined,
): string | undefined {
  const automatic = list(HSMDevice, { by: { auto: 'yes' } });
  if (!device || !automatic.some(({ metadata }) => metadata.uid === device.metadata?.uid)) return undefined;
  const others = automatic.filter(({ metadata }) => metadata.uid !== device.metadata?.uid);
  if (others.length === 0) return undefined;
  const near = others.map(keyOf).filter(({ namespace }) => namespace === device.metadata?.namespace);
  const far = others.length - near.length;
  const named = [
    ...(near.length > 0 ? [`the HSMDevices ${someOf(near.map(({ name }) => name).sort())}`] : []),
    ...(far > 0 ? ['HSMDevices of other namespaces'] : []),
  ];
  return `${named.join(' and ')} also have autoDiscovery, and find the same devices; select the devices with discovery.usb instead`;
}
