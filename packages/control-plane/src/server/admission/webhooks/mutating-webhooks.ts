import {
  applyJsonPatch,
  BowlineError,
  isSameJson,
  type JsonPatchOperation,
  JsonSyntaxError,
  parseJson,
} from '@bowline/machinery';
import { sentManagers } from '../../fields/managers.ts';
import { canonicalJson } from '../../json/canonical-json.ts';
import type { ApiResource, Draft, Strategy } from '../../registry/api-resource.ts';
import { internalError, StatusError } from '../../status/api-status.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../admission.ts';
import { kindOf, typed } from './admission-review.ts';
import { concernedResource, invoke, type WebhookParts } from './invocation.ts';
import { isExempt } from './match-rules.ts';
import { type Webhook, webhooksIn } from './webhook.ts';

/** Rounds is what is remembered of a request between the two times that it goes through the webhooks. */
interface Rounds {
  /** Webhooks that were asked, may be asked again, and have not seen what others changed since. */
  readonly asked: Set<string>;
  /** Those of them that must see it. */
  readonly outdated: Set<string>;
  /** The object as the webhooks left it. */
  left: string;
}

/**
 * mutatingWebhooks asks the stored mutating webhooks one after the other: each sees what the ones before it made of the object.
 * Once one has changed it, all plugins are asked again, and of the webhooks those that want that.
 */
export function mutatingWebhooks(parts: WebhookParts): AdmissionPlugin {
  const requests = new WeakMap<AdmissionRequest, Rounds>();
  return {
    name: 'MutatingAdmissionWebhook',
    mutate(request) {
      const webhooks = webhooksIn(parts.storage, 'mutating');
      if (webhooks.length === 0 || isExempt(request)) return;
      return ask(webhooks, request);
    },
  };

  async function ask(webhooks: readonly Webhook[], given: AdmissionRequest): Promise<'again' | undefined> {
    const before = requests.get(given);
    const rounds = before ?? { asked: new Set(), outdated: new Set(), left: '' };
    requests.set(given, rounds);
    const request = shown(given);
    // The other plugins may have changed it meanwhile.
    if (before && canonicalJson(request.object) !== before.left) outdate(rounds);
    let again: 'again' | undefined;
    for (const webhook of webhooks) {
      if (before && !rounds.outdated.has(webhook.id)) continue;
      const resource = await concernedResource(parts, webhook, request);
      if (!resource) continue;
      rounds.outdated.delete(webhook.id);
      const verdict = await invoke(parts, webhook, request, resource, true);
      if (verdict?.patch !== undefined && patched(webhook, request, resource, verdict.patch)) {
        takeBack(given, request);
        outdate(rounds);
        again = 'again';
      }
      if (webhook.isReinvoked) rounds.asked.add(webhook.id);
    }
    if (request.object) rounds.left = canonicalJson(request.object);
    return again;
  }
}

function outdate({ asked, outdated }: Rounds): void {
  for (const id of asked) outdated.add(id);
  asked.clear();
}

/** Applies a patch, and says whether it changed anything. What is wrong with a patch is no failure that a policy ignores. */
function patched(webhook: Webhook, request: AdmissionRequest, resource: ApiResource, text: string): boolean {
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
    const document = applyJsonPatch(typed(kindOf(resource, subresource), object), operations);
    const decoded = strategy.decode(document as Record<string, unknown>).object;
    made = typed(kindOf(request.resource, subresource), decoded);
  } catch (error) {
    if (!(error instanceof BowlineError) && !(error instanceof StatusError)) throw error;
    // The kind is not the one that somebody sent.
    throw internalError(error.message.replace(/^.* cannot be handled as a \w+: /, ''));
  }
  strategy.applyDefaults?.(made);
  keepManagedFields(request, object, made);
  become(object, made);
  return canonicalJson(object) !== before;
}

function operationsIn(text: string): readonly JsonPatchOperation[] {
  try {
    const { value } = parseJson(text);
    // Whether its elements are operations is checked where they are applied.
    if (Array.isArray(value)) return value as JsonPatchOperation[];
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw internalError(error.message);
  }
  throw internalError('the patch of a webhook is no list of operations');
}

function strategyOf(resource: ApiResource, subresource: string): Pick<Strategy, 'decode' | 'applyDefaults'> {
  const part = resource.subresources.get(subresource);
  return part?.projection?.strategy ?? part?.creates?.strategy ?? part?.strategy ?? resource.strategy;
}

/** What the tracking of fields cannot read is no reason to refuse the write of somebody who did not send it. */
function keepManagedFields({ warnings }: AdmissionRequest, object: Draft, { metadata }: Draft): void {
  const { managedFields } = object.metadata;
  const made = metadata.managedFields ?? [];
  if (isSameJson(made, managedFields ?? []) || sentManagers(made)) return;
  metadata.managedFields = managedFields;
  warnings.push(
    '.metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller',
  );
}

/** Makes an object another one in place: whoever prepares it holds on to it, and to its metadata. */
function become(object: Draft, made: Draft): void {
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

/** shown is a request as webhooks see it: one about a part that is another kind, such as a Scale, is about that kind. */
export function shown(request: AdmissionRequest): AdmissionRequest {
  const { object, old } = request;
  const projection = projectionOf(request);
  if (!projection) return request;
  return { ...request, object: object && projection.show(object), old: old && projection.show(old) };
}

/** takeBack changes what a request is about to what became of it as it was shown. */
export function takeBack(request: AdmissionRequest, seen: AdmissionRequest): void {
  if (request !== seen && request.object && seen.object) projectionOf(request)?.take(request.object, seen.object);
}

function projectionOf({ resource, subresource }: AdmissionRequest) {
  return subresource === '' ? undefined : resource.subresources.get(subresource)?.projection;
}
