import type { Clock, Random } from '@bowline/machinery';
import type { Authorizer } from '../authorization/authorizer.ts';
import type { FieldTracking } from '../fields/field-tracking.ts';
import type { Registry } from '../registry/registry.ts';
import type { Storage } from '../storage/storage.ts';
import type { AdmissionPlugin } from './admission.ts';
import { defaultTolerations } from './default-tolerations.ts';
import { namespaceLifecycle } from './namespace-lifecycle.ts';
import { ownerReferences } from './owner-references.ts';
import { podPriority } from './pod-priority.ts';
import { QuotaLedger } from './quota/quota-ledger.ts';
import { keepQuotaStatus } from './quota/quota-status.ts';
import { resourceQuotas } from './quota/resource-quotas.ts';
import { serviceAccounts } from './service-account.ts';
import { unenforced } from './unenforced.ts';
import { mutatingWebhooks } from './webhooks/mutating-webhooks.ts';
import type { ServiceResolver } from './webhooks/service-address.ts';
import { validatingWebhooks } from './webhooks/validating-webhooks.ts';
import { WebhookClient } from './webhooks/webhook-client.ts';

/** AdmissionOptions is what admission looks at. */
export interface AdmissionOptions {
  readonly storage: Storage;
  readonly registry: Registry;
  readonly authorizer: Authorizer;
  readonly fields: FieldTracking;
  /** Times out webhooks. */
  readonly clock: Clock;
  readonly random: Random;
  /** Finds what stands behind the Services of webhooks. Defaults to none: only external names are reached. */
  readonly resolveService?: ServiceResolver | undefined;
  /** Told of errors that are bugs and belong to no request. */
  readonly onError: (error: unknown) => void;
}

/** ServerAdmission is what every write of a server goes through. Disposing of it closes connections to webhooks and stops counting. */
export interface ServerAdmission extends Disposable {
  /** In the order in which they are asked. */
  readonly plugins: readonly AdmissionPlugin[];
}

/**
 * createAdmission makes the plugins of a server, those that a real one has by default and that need no controller which is
 * not here. Limit ranges and Pod Security levels are kept and not enforced; who writes one is told.
 */
export function createAdmission(options: AdmissionOptions): ServerAdmission {
  const { storage, registry, authorizer, random } = options;
  const client = new WebhookClient(options);
  const ledger = new QuotaLedger(storage);
  const quotaStatus = keepQuotaStatus({ ...options, ledger });
  const webhooks = { storage, registry, client, authorizer };
  return {
    plugins: [
      namespaceLifecycle(storage),
      serviceAccounts(storage, random),
      podPriority(storage),
      defaultTolerations(),
      ownerReferences(authorizer, registry),
      mutatingWebhooks(webhooks),
      validatingWebhooks(webhooks),
      unenforced(),
      resourceQuotas(ledger),
    ],
    [Symbol.dispose]() {
      client[Symbol.dispose]();
      quotaStatus[Symbol.dispose]();
      ledger[Symbol.dispose]();
    },
  };
}
