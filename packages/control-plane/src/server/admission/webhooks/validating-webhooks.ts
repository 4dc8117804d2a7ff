import type { ApiResource } from '../../registry/api-resource.ts';
import type { AdmissionPlugin } from '../admission.ts';
import { concernedResource, invoke, type WebhookParts } from './invocation.ts';
import { isExempt } from './match-rules.ts';
import { shown } from './mutating-webhooks.ts';
import { type Webhook, webhooksIn } from './webhook.ts';

/** validatingWebhooks calls the stored validating webhooks concurrently: one denial is enough to reject the write. */
export function validatingWebhooks(parts: WebhookParts): AdmissionPlugin {
  return {
    name: 'ValidatingAdmissionWebhook',
    validate(given) {
      const webhooks = webhooksIn(parts.storage, 'validating');
      if (webhooks.length === 0 || isExempt(given)) return;
      const request = shown(given);
      return ask();

      async function ask(): Promise<void> {
        const concerned: { readonly webhook: Webhook; readonly resource: ApiResource }[] = [];
        for (const webhook of webhooks) {
          const resource = await concernedResource(parts, webhook, request);
          if (resource) concerned.push({ webhook, resource });
        }
        const outcomes = await Promise.allSettled(
          concerned.map(({ webhook, resource }) => invoke(parts, webhook, request, resource, false)),
        );
        // Of several denials the first in the order of the webhooks is reported, so that the same write always gets the
        // same message.
        for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
      }
    },
  };
}
