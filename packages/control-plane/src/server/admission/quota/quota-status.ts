import type { ResourceQuota } from '@bowline/kubernetes';
import { type Clock, canonicalJson, formatQuantity } from '@bowline/machinery';
import type { FieldTracking } from '../../fields/field-tracking.ts';
import { draftOf } from '../../printing/render.ts';
import type { Registry } from '../../registry/registry.ts';
import type { Storage } from '../../storage/storage.ts';
import { type Account, QUOTAS, type QuotaLedger } from './quota-ledger.ts';

/** The field manager of quota status in a real cluster. */
const MANAGER = 'kube-controller-manager';

/** QuotaStatusOptions holds the dependencies of keepQuotaStatus. */
export interface QuotaStatusOptions {
  readonly ledger: QuotaLedger;
  readonly storage: Storage;
  readonly registry: Registry;
  readonly fields: FieldTracking;
  readonly clock: Clock;
  /** Receives errors that are bugs. */
  readonly onError: (error: unknown) => void;
}

/** keepQuotaStatus writes the usage into the status of every quota, right after the write that changed it. */
export function keepQuotaStatus(options: QuotaStatusOptions): Disposable {
  const { ledger, registry, onError } = options;
  const changed = new Set<string>();
  let isScheduled = false;
  let isStopped = false;
  const schedule = (...keys: readonly string[]): void => {
    for (const key of keys) changed.add(key);
    if (isScheduled || changed.size === 0) return;
    isScheduled = true;
    // Deferred: all watchers must see this write before they see the status update.
    queueMicrotask(() => {
      isScheduled = false;
      const due = [...changed];
      changed.clear();
      for (const key of isStopped ? [] : due) {
        try {
          writeStatus(options, key);
        } catch (error) {
          // A quota that cannot be written must not prevent the update of others.
          onError(error);
        }
      }
    });
  };
  const ledgerWatch = ledger.onChange((key) => schedule(key));
  // A kind that starts being served can be counted from now on.
  const registryWatch = registry.onChange(() => schedule(...ledger.keys()));
  schedule(...ledger.keys());
  return {
    [Symbol.dispose]() {
      isStopped = true;
      ledgerWatch[Symbol.dispose]();
      registryWatch[Symbol.dispose]();
    },
  };
}

function writeStatus({ ledger, storage, registry, fields, clock }: QuotaStatusOptions, key: string): void {
  const account = ledger.account(key);
  const stored = storage.get(QUOTAS, key);
  const resource = registry.find('', 'v1', QUOTAS);
  if (!account || !stored || !resource) return;
  const [old, object] = [draftOf(stored), draftOf(stored)];
  const { spec, status } = object as ResourceQuota;
  const next = spec?.hard ? { hard: spec.hard, used: usedOf(account, registry) } : {};
  if (canonicalJson(next) === canonicalJson(status ?? {})) return;
  object.status = next;
  fields.updated(resource, object, old, { manager: MANAGER, subresource: 'status', now: clock.now() });
  storage.update(QUOTAS, key, stored.revision, object);
}

/** usedOf omits kinds that are not served: their usage is unknown. */
function usedOf({ used }: Account, registry: Registry): Record<string, string> {
  const known = new Set(registry.all().flatMap(({ scope, collection }) => (scope === 'Namespaced' ? collection : [])));
  const reported = [...used].filter(([name]) => !name.startsWith('count/') || known.has(name.slice('count/'.length)));
  return Object.fromEntries(reported.map(([name, amount]) => [name, formatQuantity(amount)]));
}
