import type { AdmissionPlugin } from './admission.ts';

/** Kinds that limit others in a real cluster, by the collection that they are kept in. */
const LIMITS: Readonly<Record<string, string>> = {
  limitranges: 'LimitRange',
  resourcequotas: 'ResourceQuota',
};

const ENFORCED_LEVEL = 'pod-security.kubernetes.io/enforce';

/**
 * unenforced tells writers of limits that nothing keeps to them here. Refusing would be no better: charts hold such objects,
 * and what they limit is not what is tried out on this server.
 */
export function unenforced(): AdmissionPlugin {
  return {
    name: 'Unenforced',
    validate({ resource, subresource, operation, object, old, warnings }) {
      if ((operation !== 'CREATE' && operation !== 'UPDATE') || subresource !== '' || !object) return;
      const kind = LIMITS[resource.collection];
      if (kind !== undefined && operation === 'CREATE')
        warnings.push(`the embedded control plane keeps this ${kind} and does not enforce it`);
      if (resource.collection !== 'namespaces') return;
      const level = object.metadata.labels?.[ENFORCED_LEVEL];
      if (level === undefined || level === 'privileged' || level === old?.metadata.labels?.[ENFORCED_LEVEL]) return;
      warnings.push(`the embedded control plane does not enforce the Pod Security level ${JSON.stringify(level)}`);
    },
  };
}
