import { compareQuantities, formatQuantity, type Quantity, subtractQuantities } from '@bowline/machinery';
import type { Amounts } from '../../objects/pod-amounts.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../admission.ts';
import { refuse } from '../admission.ts';
import type { QuotaLedger } from './quota-ledger.ts';
import { unspecifiedResources, usageOf } from './usage.ts';

/** resourceQuotas rejects writes that exceed the quotas of a namespace. */
export function resourceQuotas(ledger: QuotaLedger): AdmissionPlugin {
  return {
    name: 'ResourceQuota',
    // Runs only inside the commit: other writes may have used up the remaining quota since any earlier step.
    commit(request) {
      const { resource, namespace, object } = request;
      if (!object || !isCharged(request)) return;
      const { collection } = resource;
      const accounts = ledger.accountsIn(namespace).filter(({ matches }) => matches(collection, object));
      if (accounts.length === 0) return;
      if (collection === 'pods') {
        for (const { name, limits } of accounts) {
          const missing = unspecifiedResources(object, limits.keys());
          if (missing !== '') throw refuse(request, `failed quota: ${name}: must specify ${missing}`);
        }
      }
      const more = growth(request);
      for (const { name, limits, used } of accounts) {
        const exceeded = [...more].filter(([each, amount]) => {
          const [limit, before] = [limits.get(each), used.get(each)];
          return limit && before && compareQuantities({ ...amount, nanos: before.nanos + amount.nanos }, limit) > 0;
        });
        if (exceeded.length === 0) continue;
        const list = (amounts: Amounts): string => listed(amounts, new Set(exceeded.map(([each]) => each)));
        throw refuse(
          request,
          `exceeded quota: ${name}, requested: ${list(more)}, used: ${list(used)}, limited: ${list(limits)}`,
        );
      }
    },
  };
}

/** isCharged reports whether a write can increase usage. */
function isCharged({ operation, resource, subresource }: AdmissionRequest): boolean {
  if (resource.scope !== 'Namespaced') return false;
  if (resource.collection === 'pods' && subresource === 'resize') return operation === 'UPDATE';
  if (subresource !== '') return false;
  return operation === 'CREATE' || ['services', 'persistentvolumeclaims'].includes(resource.collection);
}

/** growth returns how much more a write uses than the object that it replaces. */
function growth({ resource: { collection }, object, old }: AdmissionRequest): Amounts {
  const before = old ? usageOf(collection, old) : new Map<string, Quantity>();
  const more = new Map<string, Quantity>();
  for (const [name, amount] of object ? usageOf(collection, object) : []) {
    const had = before.get(name);
    const added = had ? subtractQuantities(amount, had) : amount;
    if (added.nanos > 0n) more.set(name, added);
  }
  return more;
}

function listed(amounts: Amounts, names: ReadonlySet<string>): string {
  return [...names]
    .sort()
    .map((name) => `${name}=${formatQuantity(amounts.get(name) ?? { nanos: 0n, format: 'DecimalSI' })}`)
    .join(',');
}
