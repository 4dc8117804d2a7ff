import type { PodSpec } from '@bowline/kubernetes';
import { compareQuantities, parseQuantity } from '@bowline/machinery';
import type { PartialObject } from '../../shared/partial-object.ts';

const COMPUTE_RESOURCES = ['cpu', 'memory'];

/**
 * qosClassOf returns the QoS class of a pod, which determines how it is treated when its node runs out of resources. It
 * depends on the requests and limits of its containers.
 */
export function qosClassOf(spec: PartialObject<PodSpec>): 'BestEffort' | 'Burstable' | 'Guaranteed' {
  const containers = spec.resources ? [spec] : [...(spec.containers ?? []), ...(spec.initContainers ?? [])];
  let hasNoResources = true;
  let isGuaranteed = true;
  for (const { resources } of containers) {
    const { requests = {}, limits = {} } = resources ?? {};
    for (const name of COMPUTE_RESOURCES) {
      const [request, limit] = [amountOf(requests, name), amountOf(limits, name)];
      if (request || limit) hasNoResources = false;
      if (!limit || (request && compareQuantities(request, limit) !== 0)) isGuaranteed = false;
    }
  }
  if (hasNoResources) return 'BestEffort';
  return isGuaranteed ? 'Guaranteed' : 'Burstable';
}

function amountOf(amounts: { readonly [name: string]: string | undefined }, name: string) {
  const text = Object.hasOwn(amounts, name) ? amounts[name] : undefined;
  const amount = text === undefined ? undefined : parseQuantity(text);
  return amount && amount.nanos !== 0n ? amount : undefined;
}
