import type { Clock, Random } from '@bowline/machinery';
import type { Authorizer } from '../authorization/authorizer.ts';
import type { FieldTracking } from '../fields/field-tracking.ts';
import type { Registry } from '../registry/registry.ts';
import type { Storage } from '../storage/storage.ts';
import type { AdmissionPlugin } from './admission.ts';
import { claimResize } from './claim-resize.ts';
import { defaultStorageClass } from './default-storage-class.ts';
import { defaultTolerations } from './default-tolerations.ts';
import { namespaceLifecycle } from './namespace-lifecycle.ts';
import { ownerReferences } from './owner-references.ts';
import { podPriority } from './pod-priority.ts';
import { paramAccess } from './policies/param-access.ts';
import { PolicyIndex } from './policies/policy.ts';
import { keepPolicyStatus } from './policies/policy-status.ts';
import { validatingPolicies } from './policies/validating-policies.ts';
import { QuotaLedger } from './quota/quota-ledger.ts';
import { keepQuotaStatus } from './quota/quota-status.ts';
import { resourceQuotas } from './quota/resource-quotas.ts';
import { serviceAccounts } from './service-account.ts';
import { storageProtection } from './storage-protection.ts';
import { warnUnenforced } from './unenforced.ts';
import { mutatingWebhooks } from './webhooks/mutating-webhooks.ts';
import type { ServiceResolver } from './webhooks/service-address.ts';
import { validatingWebhooks } from './webhooks/validating-webhooks.ts';
import { WebhookClient } from './webhooks/webhook-client.ts';

/** AdmissionOptions holds the dependencies of admission. */
export interface AdmissionOptions {
  readonly storage: Storage;
  readonly registry: Registry;
  readonly authorizer: Authorizer;
  readonly fields: FieldTracking;
  /** Used for the timeouts of webhooks. */
  readonly clock: Clock;
  readonly random: Random;
  /**
   * Resolves the Services of webhooks to addresses. Defaults to none: only Services with an external name are
   * reachable.
   */
  readonly resolveService?: ServiceResolver | undefined;
  /** Receives errors that are bugs and belong to no request. */
  readonly onError: (error: unknown) => void;
}

/**
 * ServerAdmission holds the admission plugins of every write. Disposing of it closes connections to webhooks and stops
 * counting quota usage and writing the status of policies.
 */
export interface ServerAdmission extends Disposable {
  /** In the order in which they run. */
  readonly plugins: readonly AdmissionPlugin[];
}

/**
 * createAdmission creates the plugins that a real API server enables by default and that do not need a controller
 * missing here. LimitRanges and Pod Security levels are stored but not enforced; their writer receives a warning.
 */
export function createAdmission(options: AdmissionOptions): ServerAdmission {
  const { storage, registry, authorizer, random } = options;
  const client = new WebhookClient(options);
  const ledger = new QuotaLedger(storage);
  const quotaStatus = keepQuotaStatus({ ...options, ledger });
  const policies = new PolicyIndex(storage);
  const policyStatus = keepPolicyStatus(options);
  const webhooks = { storage, registry, client, authorizer };
  return {
    plugins: [
      namespaceLifecycle(storage),
      serviceAccounts(storage, random),
      podPriority(storage),
      defaultTolerations(),
      defaultStorageClass(storage),
      storageProtection(),
      ownerReferences(authorizer, registry),
      claimResize(storage),
      mutatingWebhooks(webhooks),
      paramAccess({ storage, registry, authorizer }),
      validatingPolicies({ storage, registry, authorizer, index: policies }),
      validatingWebhooks(webhooks),
      warnUnenforced(),
      resourceQuotas(ledger),
    ],
    [Symbol.dispose]() {
      client[Symbol.dispose]();
      policyStatus[Symbol.dispose]();
      policies[Symbol.dispose]();
      quotaStatus[Symbol.dispose]();
      ledger[Symbol.dispose]();
    },
  };
}
