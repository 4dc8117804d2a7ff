import type { Selector } from '@bowline/machinery';
import type { Authorizer } from '../../authorization/authorizer.ts';
import type { ApiResource, Draft } from '../../registry/api-resource.ts';
import type { Registry } from '../../registry/registry.ts';
import { badRequest, forbidden, internalError, notFound } from '../../status/api-status.ts';
import type { Storage } from '../../storage/storage.ts';
import { keyIn } from '../../storage/stored.ts';
import type { AdmissionRequest } from '../admission.ts';
import { denial, readVerdict, reviewOf, type Verdict } from './admission-review.ts';
import { CallFailure } from './call-failure.ts';
import { meetsConditions } from './match-conditions.ts';
import { matchedResource } from './match-rules.ts';
import type { Webhook } from './webhook.ts';
import type { WebhookClient } from './webhook-client.ts';

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
  const { namespaceSelector, objectSelector } = webhook;
  const resource = matchedResource(webhook, request, registry);
  if (!resource) return undefined;
  if (!namespaceSelector || !objectSelector) throw internalError('a selector of the webhook is not valid');
  const { object, old } = request;
  if (!selects(objectSelector, object) && !selects(objectSelector, old)) return undefined;
  if (!selectsNamespace(storage, namespaceSelector, request)) return undefined;
  const conditions = await meetsConditions(authorizer, webhook, request, resource);
  if ('problem' in conditions) throw forbidden(request.resource, request.name, conditions.problem);
  return conditions.matches ? resource : undefined;
}

function selects(selector: Selector<unknown>, object: Draft | undefined): boolean {
  if (selector.requirements.length === 0) return true;
  return object !== undefined && selector.matches(object.metadata.labels);
}

/**
 * A namespace selector never excludes cluster-scoped objects; a namespace is matched by its own labels, as they will be
 * stored.
 */
function selectsNamespace(storage: Storage, selector: Selector<unknown>, request: AdmissionRequest): boolean {
  const { resource, subresource, namespace, name, operation, object } = request;
  const isNamespace = resource.resource === 'namespaces' && resource.group === '';
  if (selector.requirements.length === 0 || (namespace === '' && !isNamespace)) return true;
  if (isNamespace && subresource === '' && (operation === 'CREATE' || operation === 'UPDATE'))
    return selector.matches(object?.metadata.labels);
  const which = namespace || name;
  const stored = storage.get('namespaces', keyIn('', which));
  if (!stored) throw notFound({ group: '', resource: 'namespaces' }, which);
  return selector.matches(stored.labels);
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
