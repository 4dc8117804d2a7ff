import type { ResourceQuota } from '@bowline/kubernetes';
import type { Draft } from '../registry/api-resource.ts';
import type { AdmissionPlugin } from './admission.ts';
import { QUOTAS } from './quota/quota-ledger.ts';
import { scopesOf } from './quota/scopes.ts';

/** The quota scope that selects claims by VolumeAttributesClass, a kind that this server does not serve. */
const CLAIM_SCOPE = 'VolumeAttributesClass';
const ENFORCED_LEVEL = 'pod-security.kubernetes.io/enforce';

/**
 * warnUnenforced warns writers of limits that this server does not enforce. Refusing them would be no better: charts
 * contain such objects, and the limits are not what users test on this server.
 */
export function warnUnenforced(): AdmissionPlugin {
  return {
    name: 'Unenforced',
    validate({ resource, subresource, operation, object, old, warnings }) {
      if ((operation !== 'CREATE' && operation !== 'UPDATE') || subresource !== '' || !object) return;
      if (resource.collection === 'limitranges' && operation === 'CREATE')
        warnings.push('the embedded control plane stores this LimitRange but does not enforce it');
      if (resource.collection === QUOTAS && operation === 'CREATE' && hasClaimScope(object))
        warnings.push(`the embedded control plane does not enforce quotas with the scope ${CLAIM_SCOPE}`);
      if (resource.collection !== 'namespaces') return;
      const level = object.metadata.labels?.[ENFORCED_LEVEL];
      if (level === undefined || level === 'privileged' || level === old?.metadata.labels?.[ENFORCED_LEVEL]) return;
      warnings.push(`the embedded control plane does not enforce the Pod Security level ${JSON.stringify(level)}`);
    },
  };
}

function hasClaimScope(object: Draft): boolean {
  return scopesOf((object as ResourceQuota).spec ?? {}).some(({ scopeName }) => scopeName === CLAIM_SCOPE);
}
