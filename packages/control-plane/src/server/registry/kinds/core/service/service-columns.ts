import type { Service } from '@bowline/kubernetes';
import type { TableColumn } from '../../../api-resource.ts';
import { AGE, as, column, wide } from '../../shared/column.ts';
import type { PartialObject } from '../../shared/partial-object.ts';

/**
 * The API server truncates addresses of load balancers in tables that are not wide. This server never does, because its
 * tables serve both outputs.
 */
const NONE = '<none>';

/** serviceColumns displays how a Service is reached. */
export const serviceColumns: readonly TableColumn[] = [
  column('Type', 'Type of the service.', (object) => as<Service>(object).spec?.type ?? ''),
  column('Cluster-IP', 'IP address inside the cluster.', (object) => as<Service>(object).spec?.clusterIPs?.[0] || NONE),
  column('External-IP', 'Addresses outside the cluster.', (object) => outside(as<Service>(object))),
  column('Port(s)', 'Ports of the service, each followed by a colon and its node port.', (object) =>
    ports(as<Service>(object)),
  ),
  AGE,
  wide('Selector', 'Labels that select the pods.', (object) => {
    const labels = Object.entries(as<Service>(object).spec?.selector ?? {}).map(([key, value]) => `${key}=${value}`);
    return labels.sort().join(',') || NONE;
  }),
];

function outside({ spec = {}, status = {} }: PartialObject<Service>): string {
  const given = spec.externalIPs ?? [];
  switch (spec.type) {
    case 'LoadBalancer': {
      const ingress = (status.loadBalancer?.ingress ?? []).map(({ ip, hostname }) => ip || hostname || '');
      return [...ingress.filter(Boolean), ...given].join(',') || '<pending>';
    }
    case 'ExternalName':
      return spec.externalName || NONE;
    default:
      return given.join(',') || NONE;
  }
}

function ports({ spec = {} }: PartialObject<Service>): string {
  const texts = (spec.ports ?? []).map(
    ({ port, nodePort, protocol = 'TCP' }) => `${port}${nodePort ? `:${nodePort}` : ''}/${protocol}`,
  );
  return texts.join(',') || NONE;
}
