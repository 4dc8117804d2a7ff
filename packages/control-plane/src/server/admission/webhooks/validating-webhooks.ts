import type { ApiResource } from '../../registry/api-resource.ts';
import type { AdmissionPlugin } from '../admission.ts';
import { withProjectedObjects } from '../matching/described-request.ts';
import { isExempt } from '../matching/match-rules.ts';
import { invoke, matchingResource, type WebhookParts } from './invocation.ts';
import { type Webhook, webhooksIn } from './webhook.ts';

/** validatingWebhooks calls the stored validating webhooks concurrently: one denial is enough to reject the write. */
export function validatingWebhooks(parts: WebhookParts): AdmissionPlugin {
  return {
    name: 'ValidatingAdmissionWebhook',
    validate(given) {
      const webhooks = webhooksIn(parts.storage, 'validating');
      if (webhooks.length === 0 || isExempt(given)) return;
      const request = withProjectedObjects(given);
      return callWebhooks();

      async function callWebhooks(): Promise<void> {
        const matching: { readonly webhook: Webhook; readonly resource: ApiResource }[] = [];
        for (const webhook of webhooks) {
          const resource = await matchingResource(parts, webhook, request);
          if (resource) matching.push({ webhook, resource });
        }
        const outcomes = await Promise.allSettled(
          matching.map(({ webhook, resource }) => invoke(parts, webhook, request, resource, false)),
        );
        // Of several denials the first in the order of the webhooks is reported, so that the same write always gets the
        // same message.
        for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
      }
    },
  };
}
