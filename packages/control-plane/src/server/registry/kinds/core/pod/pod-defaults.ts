import type { Pod, PodSpec, PodTemplateSpec } from '@bowline/kubernetes';
import { addQuantities, formatQuantity, parseQuantity } from '@bowline/machinery';
import { type PartialObject, partOf } from '../../shared/partial-object.ts';
import { dropEmpty, dropFalse } from '../../shared/zero-values.ts';
import { containerDefaults } from './container-defaults.ts';
import { volumeDefaults } from './volume-defaults.ts';

/** podTemplateDefaults sets the defaults of a pod template. */
export function podTemplateDefaults(template: PartialObject<PodTemplateSpec>): void {
  template.metadata ??= {};
  template.spec ??= {};
  podSpecDefaults(template.spec);
}

/** podDefaults sets the defaults of a pod, which has more of them than a template. */
export function podDefaults(pod: PartialObject<Pod>): void {
  const spec = partOf(pod, 'spec');
  spec.enableServiceLinks ??= true;
  for (const container of [...(spec.containers ?? []), ...(spec.initContainers ?? [])]) {
    const { limits } = container.resources ?? {};
    if (limits && container.resources) {
      const requests = partOf(container.resources, 'requests');
      for (const [name, limit] of Object.entries(limits)) if (!Object.hasOwn(requests, name)) requests[name] = limit;
    }
    if (spec.hostNetwork) for (const port of container.ports ?? []) port.hostPort ||= port.containerPort;
  }
  if (spec.resources) podLevelRequests(spec);
  podSpecDefaults(spec);
}

/**
 * A resource with a pod-level limit gets a pod-level request: the sum of the requests of the containers, or the limit
 * if no container requests it.
 */
function podLevelRequests(spec: PartialObject<PodSpec>): void {
  const { limits } = spec.resources ?? {};
  if (!limits || !spec.resources) return;
  const requests = partOf(spec.resources, 'requests');
  for (const [name, limit] of Object.entries(limits)) {
    if (Object.hasOwn(requests, name)) continue;
    const requested = (spec.containers ?? []).flatMap((each) => each.resources?.requests?.[name] ?? []);
    requests[name] = requested.length === 0 ? limit : sum(requested);
  }
}

function sum(amounts: readonly string[]): string {
  return formatQuantity(amounts.map((each) => parseQuantity(each)).reduce(addQuantities));
}

/** podSpecDefaults sets the defaults that pods and their templates share. */
function podSpecDefaults(spec: PartialObject<PodSpec>): void {
  spec.restartPolicy ||= 'Always';
  spec.dnsPolicy ||= 'ClusterFirst';
  spec.schedulerName ||= 'default-scheduler';
  spec.terminationGracePeriodSeconds ??= 30;
  spec.securityContext ??= {};
  // The older name of the same field is kept equal.
  spec.serviceAccountName ||= spec.serviceAccount || undefined;
  spec.serviceAccount = spec.serviceAccountName;
  dropFalse(spec, 'hostNetwork', 'hostPID', 'hostIPC');
  dropEmpty(spec, 'nodeName', 'hostname', 'subdomain', 'priorityClassName');
  spec.volumes?.forEach(volumeDefaults);
  spec.containers?.forEach(containerDefaults);
  spec.initContainers?.forEach(containerDefaults);
  spec.ephemeralContainers?.forEach(containerDefaults);
}
