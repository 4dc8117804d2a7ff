import {
  applyJsonPatch,
  BowlineError,
  canonicalJson,
  isSameJson,
  type JsonPatchOperation,
  JsonSyntaxError,
  parseJson,
} from '@bowline/machinery';
import { sentManagers } from '../../fields/managers.ts';
import type { ApiResource, Draft, Strategy } from '../../registry/api-resource.ts';
import { internalError, StatusError } from '../../status/api-status.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../admission.ts';
import { applyChanges, kindOf, withProjectedObjects, withType } from '../matching/described-request.ts';
import { isExempt } from '../matching/match-rules.ts';
import { invoke, matchingResource, type WebhookParts } from './invocation.ts';
import { type Webhook, webhooksIn } from './webhook.ts';

/** ReinvocationState holds the state of a request between the two rounds in which it passes through the webhooks. */
interface ReinvocationState {
  /** Webhooks that were called, may be reinvoked, and have seen every change so far. */
  readonly reinvocable: Set<string>;
  /** Webhooks that must be reinvoked because of a change after their call. */
  readonly outdated: Set<string>;
  /** The object, as JSON, after the last webhook. */
  lastObject: string;
}

/**
 * mutatingWebhooks calls the stored mutating webhooks one after the other: each receives the object as the previous
 * ones changed it. Once a webhook has changed it, all plugins run again, and so do the webhooks that ask for
 * reinvocation.
 */
export function mutatingWebhooks(parts: WebhookParts): AdmissionPlugin {
  const requests = new WeakMap<AdmissionRequest, ReinvocationState>();
  return {
    name: 'MutatingAdmissionWebhook',
    mutate(request) {
      const webhooks = webhooksIn(parts.storage, 'mutating');
      if (webhooks.length === 0 || isExempt(request)) return;
      return callWebhooks(webhooks, request);
    },
  };

  async function callWebhooks(webhooks: readonly Webhook[], given: AdmissionRequest): Promise<'again' | undefined> {
    const before = requests.get(given);
    const rounds = before ?? { reinvocable: new Set(), outdated: new Set(), lastObject: '' };
    requests.set(given, rounds);
    const request = withProjectedObjects(given);
    // Other plugins may have changed the object since the first round.
    if (before && canonicalJson(request.object) !== before.lastObject) markOutdated(rounds);
    let again: 'again' | undefined;
    for (const webhook of webhooks) {
      if (before && !rounds.outdated.has(webhook.id)) continue;
      const resource = await matchingResource(parts, webhook, request);
      if (!resource) continue;
      rounds.outdated.delete(webhook.id);
      const verdict = await invoke(parts, webhook, request, resource, true);
      if (verdict?.patch !== undefined && applyPatch(webhook, request, resource, verdict.patch)) {
        applyChanges(given, request);
        markOutdated(rounds);
        again = 'again';
      }
      if (webhook.isReinvoked) rounds.reinvocable.add(webhook.id);
    }
    if (request.object) rounds.lastObject = canonicalJson(request.object);
    return again;
  }
}

function markOutdated({ reinvocable, outdated }: ReinvocationState): void {
  for (const id of reinvocable) outdated.add(id);
  reinvocable.clear();
}

/**
 * applyPatch applies a patch and reports whether it changed anything. An invalid patch is not a failure that the failure
 * policy ignores.
 */
function applyPatch(webhook: Webhook, request: AdmissionRequest, resource: ApiResource, text: string): boolean {
  const { object, subresource } = request;
  const operations = operationsIn(text);
  if (operations.length === 0) return false;
  if (!object) {
    const why = `admission webhook ${JSON.stringify(webhook.name)} attempted to modify the object, which is not supported for this operation`;
    throw internalError(why);
  }
  const before = canonicalJson(object);
  const strategy = strategyOf(request.resource, subresource);
  let made: Draft;
  try {
    const document = applyJsonPatch(withType(kindOf(resource, subresource), object), operations);
    const decoded = strategy.decode(document as Record<string, unknown>).object;
    made = withType(kindOf(request.resource, subresource), decoded);
  } catch (error) {
    if (!(error instanceof BowlineError) && !(error instanceof StatusError)) throw error;
    // The prefix names a kind that the client did not send.
    throw internalError(error.message.replace(/^.* cannot be handled as a \w+: /, ''));
  }
  strategy.applyDefaults?.(made);
  keepManagedFields(request, object, made);
  replaceContent(object, made);
  return canonicalJson(object) !== before;
}

function operationsIn(text: string): readonly JsonPatchOperation[] {
  try {
    const { value } = parseJson(text);
    // Applying the operations checks the type of the elements.
    if (Array.isArray(value)) return value as JsonPatchOperation[];
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw internalError(error.message);
  }
  throw internalError('the patch returned by the webhook is not a list of operations');
}

function strategyOf(resource: ApiResource, subresource: string): Pick<Strategy, 'decode' | 'applyDefaults'> {
  const part = resource.subresources.get(subresource);
  return part?.projection?.strategy ?? part?.creates?.strategy ?? part?.strategy ?? resource.strategy;
}

/**
 * keepManagedFields restores managedFields that field tracking cannot parse: the client did not send them, so its write
 * is not refused.
 */
function keepManagedFields({ warnings }: AdmissionRequest, object: Draft, { metadata }: Draft): void {
  const { managedFields } = object.metadata;
  const made = metadata.managedFields ?? [];
  if (isSameJson(made, managedFields ?? []) || sentManagers(made)) return;
  metadata.managedFields = managedFields;
  warnings.push(
    '.metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller',
  );
}

/** replaceContent replaces the content of an object in place: callers hold references to the object and to its metadata. */
function replaceContent(object: Draft, made: Draft): void {
  const { metadata } = object;
  const { apiVersion, kind } = object;
  replaceMembers(metadata, made.metadata);
  replaceMembers(object, { ...made, metadata, apiVersion, kind });
}

function replaceMembers(target: object, source: object): void {
  for (const name of Object.keys(target)) if (!Object.hasOwn(source, name)) Reflect.deleteProperty(target, name);
  for (const [name, value] of Object.entries(source))
    Object.defineProperty(target, name, { value, writable: true, enumerable: true, configurable: true });
}
