import type { Authorizer } from '../../authorization/authorizer.ts';
import type { ApiResource } from '../../registry/api-resource.ts';
import type { Registry } from '../../registry/registry.ts';
import { badRequest, forbidden, internalError } from '../../status/api-status.ts';
import type { Storage } from '../../storage/storage.ts';
import type { AdmissionRequest } from '../admission.ts';
import { matchedResource } from '../matching/match-rules.ts';
import { selectsRequest } from '../matching/selectors.ts';
import { denial, readVerdict, reviewOf, type Verdict } from './admission-review.ts';
import { CallFailure } from './call-failure.ts';
import type { Webhook } from './webhook.ts';
import type { WebhookClient } from './webhook-client.ts';
import { meetsWebhookConditions } from './webhook-conditions.ts';

/** WebhookParts holds the dependencies of calling webhooks. */
export interface WebhookParts {
  readonly storage: Storage;
  readonly registry: Registry;
  readonly client: WebhookClient;
  readonly authorizer: Authorizer;
}

/**
 * matchingResource returns the resource in the version that a webhook expects if the webhook must be called, and
 * undefined otherwise.
 */
export async function matchingResource(
  { storage, registry, authorizer }: WebhookParts,
  webhook: Webhook,
  request: AdmissionRequest,
): Promise<ApiResource | undefined> {
  const resource = matchedResource(webhook, request, registry);
  if (!resource || !selectsRequest(storage, webhook, request)) return undefined;
  const conditions = await meetsWebhookConditions(authorizer, webhook, request, resource);
  if ('problem' in conditions) throw forbidden(request.resource, request.name, conditions.problem);
  return conditions.matches ? resource : undefined;
}

/**
 * invoke calls a webhook and throws the error that its response, or its failure, means for the request. It returns
 * undefined for a failure that the webhook's policy ignores.
 */
export async function invoke(
  { client }: WebhookParts,
  webhook: Webhook,
  request: AdmissionRequest,
  resource: ApiResource,
  isMutating: boolean,
): Promise<Verdict | undefined> {
  const { name } = webhook;
  if (request.dryRun && webhook.hasSideEffects)
    throw badRequest(`admission webhook ${JSON.stringify(name)} does not support dry run`);
  const { uid, body } = reviewOf(request, resource);
  let verdict: Verdict;
  try {
    verdict = readVerdict(await client.call(webhook, body, request.signal), uid, isMutating);
  } catch (error) {
    if (!(error instanceof CallFailure)) throw error;
    if (webhook.failsOpen) return undefined;
    throw internalError(`failed calling webhook ${JSON.stringify(name)}: ${error.message}`);
  }
  for (const [key, value] of Object.entries(verdict.auditAnnotations)) request.annotate?.(`${name}/${key}`, value);
  for (const warning of verdict.warnings) request.warnings.push(warning);
  if (!verdict.allowed) throw denial(name, verdict.status);
  return verdict;
}
