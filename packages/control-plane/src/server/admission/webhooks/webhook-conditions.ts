import type { CelEnvironment, CompiledExpression } from '@bowline/machinery/cel';
import type { Authorizer } from '../../authorization/authorizer.ts';
import type { ApiResource } from '../../registry/api-resource.ts';
import { loadCelEngine } from '../../registry/kinds/admissionregistration/cel-engine.ts';
import { policyEnvironment } from '../../registry/kinds/admissionregistration/policy-environment.ts';
import type { AdmissionRequest } from '../admission.ts';
import { type Conditions, meetsConditions } from '../matching/conditions.ts';
import { activationFor, compiled } from '../matching/evaluation.ts';
import type { Webhook } from './webhook.ts';

interface CompiledConditions {
  readonly environment: CelEnvironment;
  readonly conditions: readonly (CompiledExpression | Error)[];
}

const known = new WeakMap<Webhook, CompiledConditions>();

/** meetsWebhookConditions evaluates the match conditions of a webhook for a request. */
export async function meetsWebhookConditions(
  authorizer: Authorizer,
  webhook: Webhook,
  request: AdmissionRequest,
  resource: ApiResource,
): Promise<Conditions> {
  if (webhook.matchConditions.length === 0) return { matches: true };
  // The engine is large, and few webhooks have conditions.
  await loadCelEngine();
  const { environment, conditions } = known.get(webhook) ?? compile(webhook);
  const activation = activationFor(environment, { request, resource, authorizer });
  return meetsConditions(conditions, activation, webhook.failsOpen);
}

function compile(webhook: Webhook): CompiledConditions {
  const environment = policyEnvironment({});
  const conditions = webhook.matchConditions.map(({ expression }) => compiled(() => environment.compile(expression)));
  known.set(webhook, { environment, conditions });
  return { environment, conditions };
}
