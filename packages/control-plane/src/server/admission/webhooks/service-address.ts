import type { Service } from '@bowline/kubernetes';
import type { Storage } from '../../storage/storage.ts';
import { keyIn, objectOf } from '../../storage/stored.ts';
import { CallFailure } from './call-failure.ts';

/** ServiceReference names a port of a Service. */
export interface ServiceReference {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
}

/** ServiceAddress is where what stands behind a Service listens. */
export interface ServiceAddress {
  readonly host: string;
  readonly port: number;
}

/** ServiceResolver finds what stands behind a Service, where cluster IPs lead nowhere; undefined when it does not know. */
export type ServiceResolver = (
  service: ServiceReference,
) => Promise<ServiceAddress | undefined> | ServiceAddress | undefined;

/**
 * serviceAddress is where a Service's port is reached. One with an external name is reached there, as a real API server does
 * without a network of its own; all others need a resolver.
 */
export async function serviceAddress(
  storage: Storage,
  reference: ServiceReference,
  resolve: ServiceResolver | undefined,
): Promise<ServiceAddress> {
  const { namespace, name, port } = reference;
  const stored = storage.get('services', keyIn(namespace, name));
  if (!stored) throw new CallFailure(`service ${JSON.stringify(name)} not found`);
  const { type = 'ClusterIP', clusterIP, externalName = '', ports = [] } = (objectOf(stored) as Service).spec ?? {};
  if (type === 'ExternalName') return { host: externalName, port };
  if (type === 'ClusterIP' && clusterIP === 'None')
    throw new CallFailure('cannot route to service with ClusterIP "None"');
  if (!ports.some((each) => each.port === port))
    throw new CallFailure(`no service port ${port} found for service ${JSON.stringify(name)}`);
  const address = await resolve?.(reference);
  if (address) return address;
  throw new CallFailure(`dial tcp ${clusterIP ?? ''}:${port}: connect: network is unreachable`);
}
