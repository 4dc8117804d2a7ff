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

/** ServiceAddress is the address of a server behind a Service. */
export interface ServiceAddress {
  readonly host: string;
  readonly port: number;
}

/**
 * ServiceResolver returns the address of a server behind a Service, for environments where cluster IPs are not routed;
 * undefined if it does not know the Service.
 */
export type ServiceResolver = (
  service: ServiceReference,
) => Promise<ServiceAddress | undefined> | ServiceAddress | undefined;

/**
 * serviceAddress returns the address of a Service's port. A Service with an external name is reached at that name, as a
 * real API server outside the cluster network does; all others need a resolver.
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
