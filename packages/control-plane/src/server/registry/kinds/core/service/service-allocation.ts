import type { Service } from '@bowline/kubernetes';
import { type FieldProblem, integerBelow, type Random } from '@bowline/machinery';
import { internalError, invalid as invalidStatus } from '../../../../status/api-status.ts';
import type { Allocation, Draft } from '../../../api-resource.ts';
import { as } from '../../shared/column.ts';
import type { PartialObject } from '../../shared/partial-object.ts';
import { invalid } from '../../shared/problems.ts';
import { completeFamilies } from './service-families.ts';
import { needsHealthCheck, needsNodePorts } from './service-updates.ts';
import { type ServicesInUse, servicesInUse } from './services-in-use.ts';

/** Services get addresses of this network, except its first and last one. */
const NETWORK = '10.0.0.';
const RANGE = `${NETWORK}0/24`;
const MAX_HOST_NUMBER = 254;
const MIN_PORT = 30_000;
const MAX_PORT = 32_767;

const KIND = { group: '', kind: 'Service' };
const TAKEN = 'provided port is already allocated';

/**
 * The values that were chosen for a Service that is not stored yet. A value that another Service took in the meantime
 * is chosen again.
 */
const chosen = new WeakMap<Draft, Set<string>>();

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
  const ours = chosen.get(object) ?? new Set();
  chosen.set(object, ours);
  clearLostValues(spec, (address) => ours.has(address) && inUse.holderOf(address) !== undefined);
  const allocationContext: AllocationContext = {
    inUse,
    own,
    random,
    dryRun,
    recordChoice: (address) => ours.add(address),
  };
  if (spec.clusterIP !== 'None') refuse(allocateAddress(spec, allocationContext));
  refuse(allocatePorts(spec, allocationContext));
}

/** clearLostValues clears values that another Service has taken. */
function clearLostValues(spec: Spec, isLost: (address: string) => boolean): void {
  if (isLost(spec.clusterIP ?? '')) {
    spec.clusterIP = undefined;
    spec.clusterIPs = undefined;
  }
  for (const port of spec.ports ?? [])
    if (isLost(`${port.protocol ?? 'TCP'}/${port.nodePort}`)) port.nodePort = undefined;
  if (isLost(`TCP/${spec.healthCheckNodePort}`)) spec.healthCheckNodePort = undefined;
}

interface AllocationContext {
  readonly inUse: ServicesInUse;
  /** The key of the Service itself, if it is already stored. */
  readonly own: string | undefined;
  readonly random: Random;
  readonly dryRun: boolean;
  /** recordChoice records a value that the server chose. */
  readonly recordChoice: (address: string) => void;
}

type Spec = NonNullable<PartialObject<Service>['spec']>;

function allocateAddress(spec: Spec, { inUse, own, random, dryRun, recordChoice }: AllocationContext): FieldProblem[] {
  const [requested] = spec.clusterIPs ?? [];
  if (requested === undefined || requested === '') {
    const free = Array.from({ length: MAX_HOST_NUMBER }, (_, index) => `${NETWORK}${index + 1}`).filter(
      (each) => inUse.holderOf(each) === undefined,
    );
    const address = free[integerBelow(random, Math.max(1, free.length))];
    if (address === undefined) throw internalError(`failed to allocate a serviceIP: range is full`);
    spec.clusterIP = address;
    spec.clusterIPs = [address];
    recordChoice(address);
    return [];
  }
  // Validation reports invalid addresses later.
  if (!/^\d{1,3}(\.\d{1,3}){3}$/.test(requested) || (spec.clusterIP && spec.clusterIP !== requested)) return [];
  const field = 'spec.clusterIPs';
  const failed = (detail: string): FieldProblem[] => [
    invalid(field, spec.clusterIPs, `failed to allocate IP ${requested}: ${detail}`),
  ];
  const last = requested.startsWith(NETWORK) ? Number(requested.slice(NETWORK.length)) : 0;
  const isInside = last >= 1 && last <= MAX_HOST_NUMBER;
  if (!isInside && !requested.startsWith(NETWORK) && !dryRun)
    return failed('the provided network does not match the current range');
  if (!isInside)
    return failed(`the provided IP (${requested}) is not in the valid range. The range of valid IPs is ${RANGE}`);
  const holder = inUse.holderOf(requested);
  return holder === undefined || holder === own || dryRun ? [] : failed('provided IP is already allocated');
}

function allocatePorts(spec: Spec, { inUse, own, random, dryRun, recordChoice }: AllocationContext): FieldProblem[] {
  const taken = new Map<string, number>();
  const isFree = (protocol: string, port: number): boolean => {
    const holder = inUse.holderOf(`${protocol}/${port}`);
    return (holder === undefined || holder === own) && !taken.has(`${protocol}/${port}`);
  };
  const choosePort = (isGood: (port: number) => boolean): number => {
    const count = MAX_PORT - MIN_PORT + 1;
    const first = integerBelow(random, count);
    for (let tried = 0; tried < count; tried++) {
      const port = MIN_PORT + ((first + tried) % count);
      if (isGood(port)) return port;
    }
    throw internalError('failed to allocate a nodePort: range is full');
  };
  if (needsNodePorts(spec)) {
    const ports = spec.ports ?? [];
    for (const [index, { nodePort, protocol = 'TCP' }] of ports.entries()) {
      if (nodePort === undefined) continue;
      const field = `spec.ports[${index}].nodePort`;
      if ((nodePort < MIN_PORT || nodePort > MAX_PORT) && !dryRun) {
        const detail = `provided port is not in the valid range. The range of valid ports is ${MIN_PORT}-${MAX_PORT}`;
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
          : choosePort((chosen) => ['TCP', 'UDP', 'SCTP'].every((each) => isFree(each, chosen)));
      taken.set(`${protocol}/${port.nodePort}`, port.nodePort);
      recordChoice(`${protocol}/${port.nodePort}`);
    }
  }
  if (needsHealthCheck(spec)) {
    const { healthCheckNodePort: requested } = spec;
    if (requested === undefined) {
      spec.healthCheckNodePort = choosePort((port) => isFree('TCP', port));
      recordChoice(`TCP/${spec.healthCheckNodePort}`);
    }
    if (requested !== undefined && !dryRun && !isFree('TCP', requested))
      throw internalError(`failed to allocate requested HealthCheck NodePort ${requested}: ${TAKEN}`);
  }
  return [];
}
