import { quoteText } from '@bowline/machinery';
import type { AdmissionRequest } from '../admission/admission.ts';
import { keepTimes } from '../fields/keep-times.ts';
import { keepMeta } from '../objects/object-meta.ts';
import { draftOf, viewed } from '../printing/render.ts';
import type { ApiResource, Draft, Strategy, WriteContext } from '../registry/api-resource.ts';
import { badRequest, conflict, invalid, notFound, otherNamespace, StatusError } from '../status/api-status.ts';
import { keyOf, type RequestContext, resourceName, reviewParts } from './context.ts';
import { countsGenerations, problemsOf, refuseInvalid, type WriteResult } from './create.ts';
import { WriteAttempts } from './write-attempts.ts';
import type { WriteOptions } from './write-options.ts';

/** Revision configures how an object is changed. */
export interface Revision {
  /** The strategy of the object, or of the subresource that is written. */
  readonly strategy: Strategy;
  /** make returns the new object; it is called again if the state changed meanwhile. It may change and return `old`. */
  readonly make: (old: Draft) => Draft | Promise<Draft>;
  /** Whether the update records field ownership; false if `make` records it, as an apply does. Defaults to true. */
  readonly tracksFields?: boolean | undefined;
  /** Whether the change applies to any state of the object. */
  readonly mayRetry: boolean;
}

/**
 * updateObject changes a stored object: it is prepared, admitted and validated, and then written atomically, unless
 * another write came first.
 */
export async function updateObject(
  context: RequestContext,
  revision: Revision,
  options: WriteOptions,
): Promise<WriteResult> {
  const { resource, info, storage } = context;
  const key = keyOf(context);
  for (const attempts = new WriteAttempts(context); ; attempts.repeat()) {
    const stored = storage.get(resource.collection, key);
    if (!stored) throw notFound(resourceName(context), info.name);
    const state = viewed(resource, stored);
    const old = draftOf(state);
    const object = await revision.make(draftOf(state));
    checkPreconditions(context, object, old);
    const review = await complete(context, revision, object, old, options);
    context.admission.commit(review);
    if (options.dryRun) {
      object.metadata.resourceVersion = old.metadata.resourceVersion;
      return { isNew: false, draft: object };
    }
    revision.strategy.allocate?.(object, old, { storage, random: context.random, dryRun: false });
    const isLast = object.metadata.deletionTimestamp !== undefined && isRemovable(object, resource);
    const result = isLast
      ? storage.remove(resource.collection, key, stored.revision, object)
      : storage.update(resource.collection, key, stored.revision, object);
    if (result) return { isNew: false, stored: viewed(resource, result), draft: object };
    if (!revision.mayRetry) throw conflict(resourceName(context), info.name);
  }
}

/** isRemovable reports whether nothing prevents the removal of a deleted object. */
export function isRemovable(object: Draft, { strategy }: ApiResource): boolean {
  const { finalizers = [], deletionGracePeriodSeconds = 0 } = object.metadata;
  return finalizers.length === 0 && deletionGracePeriodSeconds === 0 && !strategy.isKept?.(object);
}

/** complete prepares an object for storage, and returns the request that admission reviewed. */
async function complete(
  context: RequestContext,
  { strategy, tracksFields = true }: Revision,
  object: Draft,
  old: Draft,
  options: WriteOptions,
): Promise<AdmissionRequest> {
  const { resource, info, clock, admission, fields, user, storage, random } = context;
  const now = clock.now();
  const write: WriteContext = { user, now, dryRun: options.dryRun };
  strategy.applyDefaults?.(object);
  // Fields that the server or a webhook changes from here on have no owner.
  if (tracksFields) {
    fields.updated(resource, object, old, { manager: options.fieldManager, subresource: info.subresource, now });
  }
  const review = {
    operation: 'UPDATE' as const,
    resource,
    subresource: info.subresource,
    namespace: info.namespace,
    name: info.name,
    object,
    old,
    ...reviewParts(context, options),
  };
  await admission.mutate(review);
  strategy.applyDefaults?.(object);
  // Fields that an update may not change are restored last, whatever a webhook set.
  keepMeta(object, old);
  strategy.prepareForUpdate?.(object, old, write);
  if (countsGenerations(resource) && strategy.countsGeneration?.(object, old)) {
    object.metadata.generation = (old.metadata.generation ?? 0) + 1;
  }
  keepTimes(object, old);
  const loading = strategy.loadForValidate?.(object);
  if (loading) await loading;
  strategy.allocate?.(object, old, { storage, random, dryRun: options.dryRun });
  refuseInvalid(resource, object, problemsOf(strategy, resource, object, old, write));
  context.warnings.push(...(strategy.warningsOf?.(object, old) ?? []));
  await admission.validate(review);
  return review;
}

/** checkMatchesPath rejects an object that is not the one that the path names. */
export function checkMatchesPath({ info, resource }: RequestContext, { metadata }: Draft): void {
  if (!metadata.name) {
    throw badRequest(`the name of the object (${info.name} based on URL) was undeterminable: name must be provided`);
  }
  if (metadata.name !== info.name) {
    throw badRequest(`the name of the object (${metadata.name}) does not match the name on the URL (${info.name})`);
  }
  if (resource.scope === 'Namespaced' && metadata.namespace && metadata.namespace !== info.namespace)
    throw otherNamespace();
}

function checkPreconditions(context: RequestContext, object: Draft, old: Draft): void {
  const { info } = context;
  const { metadata } = object;
  checkMatchesPath(context, object);
  if (info.verb !== 'patch' && metadata.uid && metadata.uid !== old.metadata.uid) {
    const why = `Precondition failed: UID in precondition: ${metadata.uid}, UID in object meta: ${old.metadata.uid}`;
    throw conflict(resourceName(context), info.name, why);
  }
  checkVersion(context, object, old);
  // The identity in the result of a patch is part of the patch, and is checked after the version.
  if (info.verb === 'patch') refuseOtherIdentity(context, object, old);
}

function refuseOtherIdentity({ resource, info }: RequestContext, { metadata }: Draft, old: Draft): void {
  for (const field of ['deletionTimestamp', 'uid'] as const) {
    const value = metadata[field];
    if (!value || value === old.metadata[field]) continue;
    const message = `Invalid value: ${quoteText(value)}: field is immutable`;
    throw invalid(resource, info.name, [{ field: `metadata.${field}`, reason: 'FieldValueInvalid', message }]);
  }
}

function checkVersion(context: RequestContext, { metadata }: Draft, old: Draft): void {
  const { resource, info } = context;
  const { resourceVersion } = metadata;
  if (!resourceVersion) {
    if (!resource.needsVersion || info.verb === 'patch') return;
    const message = 'Invalid value: 0: must be specified for an update';
    // Here the API server uses the resource in place of the kind.
    const what = { group: resource.group, kind: resource.resource };
    throw invalid(what, info.name, [{ field: 'metadata.resourceVersion', reason: 'FieldValueInvalid', message }]);
  }
  if (!/^\d+$/.test(resourceVersion))
    throw new StatusError(500, undefined, `strconv.ParseUint: parsing ${quoteText(resourceVersion)}: invalid syntax`);
  if (resourceVersion !== old.metadata.resourceVersion) throw conflict(resourceName(context), info.name);
}
