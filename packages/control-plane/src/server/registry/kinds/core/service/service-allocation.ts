import type { Service } from '@bowline/kubernetes';
import { type FieldProblem, integerBelow, type Random } from '@bowline/machinery';
import { internalError, invalid as invalidStatus } from '../../../../status/api-status.ts';
import type { Allocation, Draft } from '../../../api-resource.ts';
import { as } from '../../shared/column.ts';
import type { Loose } from '../../shared/loose.ts';
import { invalid } from '../../shared/problems.ts';
import { completeFamilies } from './service-families.ts';
import { needsHealthCheck, needsNodePorts } from './service-updates.ts';
import { type ServicesInUse, servicesInUse } from './services-in-use.ts';

/** Services get addresses of this network, except its first and last one. */
const NETWORK = '10.0.0.';
const RANGE = `${NETWORK}0/24`;
const MOST_ADDRESS = 254;
const LEAST_PORT = 30_000;
const MOST_PORT = 32_767;

const KIND = { group: '', kind: 'Service' };
const TAKEN = 'provided port is already allocated';

/**
 * The values that were chosen for a Service that is not stored yet. A value that another Service took in the meantime
 * is chosen again.
 */
const drawn = new WeakMap<Draft, Set<string>>();

/**
 * allocateService gives a Service an address and ports that no other Service has. It runs before validation and again
 * immediately before the Service is stored, because another Service may have taken the values in between.
 */
export function allocateService(object: Draft, old: Draft | undefined, allocation: Allocation): void {
  const service = as<Service>(object);
  service.spec ??= {};
  const { spec } = service;
  const refuse = (problems: readonly FieldProblem[]): void => {
    if (problems.length > 0) throw invalidStatus(KIND, object.metadata.name ?? '', problems);
  };
  if (spec.type === 'ExternalName') return;
  spec.clusterIPs ??= spec.clusterIP ? [spec.clusterIP] : undefined;
  refuse(completeFamilies(service, old && as<Service>(old)));
  const inUse = servicesInUse(allocation.storage);
  const own = old ? `${object.metadata.namespace}/${object.metadata.name}` : undefined;
  const { random, dryRun } = allocation;
  const ours = drawn.get(object) ?? new Set();
  drawn.set(object, ours);
  giveBack(spec, (address) => ours.has(address) && inUse.holderOf(address) !== undefined);
  const drawing: Drawing = { inUse, own, random, dryRun, drew: (address) => ours.add(address) };
  if (spec.clusterIP !== 'None') refuse(allocateAddress(spec, drawing));
  refuse(allocatePorts(spec, drawing));
}

/** giveBack clears values that another Service has taken. */
function giveBack(spec: Spec, isLost: (address: string) => boolean): void {
  if (isLost(spec.clusterIP ?? '')) {
    spec.clusterIP = undefined;
    spec.clusterIPs = undefined;
  }
  for (const port of spec.ports ?? [])
    if (isLost(`${port.protocol ?? 'TCP'}/${port.nodePort}`)) port.nodePort = undefined;
  if (isLost(`TCP/${spec.healthCheckNodePort}`)) spec.healthCheckNodePort = undefined;
}

interface Drawing {
  readonly inUse: ServicesInUse;
  /** The key of the Service itself, if it is already stored. */
  readonly own: string | undefined;
  readonly random: Random;
  readonly dryRun: boolean;
  /** drew records a value that the server chose. */
  readonly drew: (address: string) => void;
}

type Spec = NonNullable<Loose<Service>['spec']>;

function allocateAddress(spec: Spec, { inUse, own, random, dryRun, drew }: Drawing): FieldProblem[] {
  const [asked] = spec.clusterIPs ?? [];
  if (asked === undefined || asked === '') {
    const free = Array.from({ length: MOST_ADDRESS }, (_, index) => `${NETWORK}${index + 1}`).filter(
      (each) => inUse.holderOf(each) === undefined,
    );
    const address = free[integerBelow(random, Math.max(1, free.length))];
    if (address === undefined) throw internalError(`failed to allocate a serviceIP: range is full`);
    spec.clusterIP = address;
    spec.clusterIPs = [address];
    drew(address);
    return [];
  }
  // Validation reports invalid addresses later.
  if (!/^\d{1,3}(\.\d{1,3}){3}$/.test(asked) || (spec.clusterIP && spec.clusterIP !== asked)) return [];
  const field = 'spec.clusterIPs';
  const failed = (detail: string): FieldProblem[] => [
    invalid(field, spec.clusterIPs, `failed to allocate IP ${asked}: ${detail}`),
  ];
  const last = asked.startsWith(NETWORK) ? Number(asked.slice(NETWORK.length)) : 0;
  const isInside = last >= 1 && last <= MOST_ADDRESS;
  if (!isInside && !asked.startsWith(NETWORK) && !dryRun)
    return failed('the provided network does not match the current range');
  if (!isInside)
    return failed(`the provided IP (${asked}) is not in the valid range. The range of valid IPs is ${RANGE}`);
  const holder = inUse.holderOf(asked);
  return holder === undefined || holder === own || dryRun ? [] : failed('provided IP is already allocated');
}

function allocatePorts(spec: Spec, { inUse, own, random, dryRun, drew }: Drawing): FieldProblem[] {
  const taken = new Map<string, number>();
  const isFree = (protocol: string, port: number): boolean => {
    const holder = inUse.holderOf(`${protocol}/${port}`);
    return (holder === undefined || holder === own) && !taken.has(`${protocol}/${port}`);
  };
  const draw = (isGood: (port: number) => boolean): number => {
    const count = MOST_PORT - LEAST_PORT + 1;
    const first = integerBelow(random, count);
    for (let tried = 0; tried < count; tried++) {
      const port = LEAST_PORT + ((first + tried) % count);
      if (isGood(port)) return port;
    }
    throw internalError('failed to allocate a nodePort: range is full');
  };
  if (needsNodePorts(spec)) {
    const ports = spec.ports ?? [];
    for (const [index, { nodePort, protocol = 'TCP' }] of ports.entries()) {
      if (nodePort === undefined) continue;
      const field = `spec.ports[${index}].nodePort`;
      if ((nodePort < LEAST_PORT || nodePort > MOST_PORT) && !dryRun) {
        const detail = `provided port is not in the valid range. The range of valid ports is ${LEAST_PORT}-${MOST_PORT}`;
        return [invalid(field, nodePort, detail)];
      }
      if (!dryRun && !isFree(protocol, nodePort)) return [invalid(field, nodePort, TAKEN)];
      taken.set(`${protocol}/${nodePort}`, nodePort);
    }
    for (const port of ports) {
      if (port.nodePort !== undefined) continue;
      const { protocol = 'TCP' } = port;
      // The same port in another protocol gets the same node port, if that is free.
      const twin = ports.find((each) => each !== port && each.port === port.port && each.nodePort !== undefined);
      port.nodePort =
        twin?.nodePort !== undefined && isFree(protocol, twin.nodePort)
          ? twin.nodePort
          : draw((drawn) => ['TCP', 'UDP', 'SCTP'].every((each) => isFree(each, drawn)));
      taken.set(`${protocol}/${port.nodePort}`, port.nodePort);
      drew(`${protocol}/${port.nodePort}`);
    }
  }
  if (needsHealthCheck(spec)) {
    const { healthCheckNodePort: asked } = spec;
    if (asked === undefined) {
      spec.healthCheckNodePort = draw((port) => isFree('TCP', port));
      drew(`TCP/${spec.healthCheckNodePort}`);
    }
    if (asked !== undefined && !dryRun && !isFree('TCP', asked))
      throw internalError(`failed to allocate requested HealthCheck NodePort ${asked}: ${TAKEN}`);
  }
  return [];
}
