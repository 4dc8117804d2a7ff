import type { Clock, Random } from '@bowline/machinery';
import type { Authorizer } from '../authorization/authorizer.ts';
import type { Registry } from '../registry/registry.ts';
import type { Storage } from '../storage/storage.ts';
import type { AdmissionPlugin } from './admission.ts';
import { defaultTolerations } from './default-tolerations.ts';
import { namespaceLifecycle } from './namespace-lifecycle.ts';
import { ownerReferences } from './owner-references.ts';
import { podPriority } from './pod-priority.ts';
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
  /** Times out webhooks. */
  readonly clock: Clock;
  readonly random: Random;
  /** Finds what stands behind the Services of webhooks. Defaults to none: only external names are reached. */
  readonly resolveService?: ServiceResolver | undefined;
}

/** ServerAdmission is what every write of a server goes through. Disposing of it closes connections to webhooks. */
export interface ServerAdmission extends Disposable {
  /** In the order in which they are asked. */
  readonly plugins: readonly AdmissionPlugin[];
}

/**
 * createAdmission makes the plugins of a server, those that a real one has by default and that need no controller which is
 * not here. Quotas, limit ranges and Pod Security levels are kept and not enforced; who writes one is told.
 */
export function createAdmission(options: AdmissionOptions): ServerAdmission {
  const { storage, registry, authorizer, random } = options;
  const client = new WebhookClient(options);
  const webhooks = { storage, registry, client };
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
    ],
    [Symbol.dispose]: () => client[Symbol.dispose](),
  };
}
