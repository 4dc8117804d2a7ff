import type { MutatingWebhook, ValidatingWebhookConfiguration } from '@bowline/kubernetes';
import { canonicalJson } from '@bowline/machinery';
import type { Draft } from '../../api-resource.ts';
import type { KindRules } from '../../built-in-strategy.ts';
import { AGE, as, count } from '../shared/column.ts';
import type { PartialObject } from '../shared/partial-object.ts';
import { loadCelEngine } from './cel-engine.ts';
import { webhookProblems } from './webhook-problems.ts';

const TIMEOUT_SECONDS = 10;
const PORT = 443;

/** validatingWebhookRules validates ValidatingWebhookConfigurations. */
export const validatingWebhookRules: KindRules = webhookRules(false);

/** mutatingWebhookRules validates MutatingWebhookConfigurations. */
export const mutatingWebhookRules: KindRules = webhookRules(true);

function webhookRules(mutates: boolean): KindRules {
  return {
    applyDefaults(object) {
      for (const webhook of webhooksOf(object)) defaultWebhook(webhook, mutates);
    },
    loadForValidate: (object) =>
      webhooksOf(object).some(({ matchConditions = [] }) => matchConditions.length > 0) ? loadCelEngine() : undefined,
    validate: (object, old) => webhookProblems(webhooksOf(object), old && webhooksOf(old), mutates),
    countsGeneration: (object, old) => canonicalJson(object.webhooks ?? null) !== canonicalJson(old.webhooks ?? null),
    columns: [
      count(
        'Webhooks',
        'Number of webhooks.',
        (object) => as<ValidatingWebhookConfiguration>(object).webhooks?.length ?? 0,
      ),
      AGE,
    ],
  };
}

function webhooksOf(object: Draft): PartialObject<MutatingWebhook>[] {
  return (object.webhooks ?? []) as PartialObject<MutatingWebhook>[];
}

function defaultWebhook(webhook: PartialObject<MutatingWebhook>, mutates: boolean): void {
  webhook.failurePolicy ??= 'Fail';
  webhook.matchPolicy ??= 'Equivalent';
  webhook.namespaceSelector ??= {};
  webhook.objectSelector ??= {};
  webhook.timeoutSeconds ??= TIMEOUT_SECONDS;
  if (mutates) webhook.reinvocationPolicy ??= 'Never';
  for (const rule of webhook.rules ?? []) rule.scope ??= '*';
  const service = webhook.clientConfig?.service;
  if (service) service.port ??= PORT;
}
