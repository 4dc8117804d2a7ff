import { schemaFor } from '@bowline/kubernetes/schemas';
import { formatTime } from '@bowline/machinery';
import { type BodyDecoder, decodeBody, MAX_BODY_BYTES, UnreadableBody } from '../bodies/decode-body.ts';
import { isTrue } from '../http/request-info.ts';
import { draftOf, viewed } from '../printing/render.ts';
import type { Draft } from '../registry/api-resource.ts';
import { decodeBuiltIn } from '../registry/decode-built-in.ts';
import { badRequest, conflict, invalid, notFound, type Status, StatusError } from '../status/api-status.ts';
import { keyIn, type Stored, storedFrom } from '../storage/stored.ts';
import { type RequestContext, resourceName, reviewParts } from './context.ts';
import { readInteger } from './list-options.ts';
import { isRemovable } from './update.ts';
import { WriteAttempts } from './write-attempts.ts';

const OPTIONS_SCHEMA = schemaFor('v1', 'DeleteOptions');
const FOREGROUND = 'foregroundDeletion';
const ORPHAN = 'orphan';

/** DeleteOptions holds the options of a deletion, from its body or its query parameters. */
export interface DeleteOptions {
  readonly gracePeriodSeconds: number | undefined;
  readonly propagationPolicy: 'Orphan' | 'Background' | 'Foreground' | undefined;
  readonly uid: string | undefined;
  readonly resourceVersion: string | undefined;
  readonly dryRun: boolean;
  readonly raw: Readonly<Record<string, unknown>>;
}

/** Deleted is the result of a deletion: the object is gone, or is being deleted. */
export type Deleted =
  | { readonly isGone: true; readonly last: Stored | Draft; readonly object: Draft }
  | { readonly isGone: false; readonly stored: Stored };

/** deleteOptions reads the options of a deletion. The body takes precedence over the query. */
export async function deleteOptions(
  context: RequestContext,
  decoders: ReadonlyMap<string, BodyDecoder>,
): Promise<DeleteOptions> {
  const { query, request } = context;
  const bytes = await request.body(MAX_BODY_BYTES);
  const body = bytes.byteLength === 0 ? {} : await readOptions(bytes, request.headers['content-type'], decoders);
  const grace = body.gracePeriodSeconds ?? readInteger(query.get('gracePeriodSeconds'));
  const orphans =
    body.orphanDependents ?? (query.has('orphanDependents') ? isTrue(query.get('orphanDependents')) : undefined);
  const policy = body.propagationPolicy ?? query.get('propagationPolicy') ?? undefined;
  const wrong = (field: string, message: string, reason: 'FieldValueInvalid' | 'FieldValueNotSupported'): never => {
    throw invalid({ group: 'meta.k8s.io', kind: 'DeleteOptions' }, '', [{ field, reason, message }]);
  };
  if (policy !== undefined && !['Orphan', 'Background', 'Foreground'].includes(policy)) {
    wrong(
      'propagationPolicy',
      `Unsupported value: ${JSON.stringify(policy)}: supported values: "Foreground", "Background", "Orphan", "nil"`,
      'FieldValueNotSupported',
    );
  }
  if (policy !== undefined && orphans !== undefined) {
    wrong(
      'propagationPolicy',
      `Invalid value: ${JSON.stringify(policy)}: orphanDependents and deletionPropagation cannot be both set`,
      'FieldValueInvalid',
    );
  }
  const dryRun = body.dryRun ?? query.getAll('dryRun');
  if (dryRun.some((each) => each !== 'All'))
    wrong('dryRun', `Unsupported value: ${JSON.stringify(dryRun)}: supported values: "All"`, 'FieldValueNotSupported');
  return {
    gracePeriodSeconds: grace,
    propagationPolicy:
      (policy as DeleteOptions['propagationPolicy']) ??
      (orphans === undefined ? undefined : orphans ? 'Orphan' : 'Background'),
    uid: body.preconditions?.uid,
    resourceVersion: body.preconditions?.resourceVersion,
    dryRun: dryRun.length > 0,
    raw: {
      kind: 'DeleteOptions',
      apiVersion: 'meta.k8s.io/v1',
      ...body,
      gracePeriodSeconds: grace,
      propagationPolicy: policy,
      orphanDependents: orphans,
      dryRun: dryRun.length > 0 ? dryRun : undefined,
    },
  };
}

interface BodyOptions {
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: string;
  readonly orphanDependents?: boolean;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly dryRun?: readonly string[];
}

/** readOptions decodes the body of a deletion. Unknown fields are ignored. */
async function readOptions(
  bytes: Uint8Array,
  contentType: string | undefined,
  decoders: ReadonlyMap<string, BodyDecoder>,
): Promise<BodyOptions> {
  try {
    const { value } = await decodeBody(bytes, contentType, decoders);
    const { apiVersion, kind = 'DeleteOptions' } = value as { apiVersion?: string; kind?: string };
    if (kind !== 'DeleteOptions' || !OPTIONS_SCHEMA) {
      throw new UnreadableBody(
        `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion ?? '')} in scheme "pkg/runtime/scheme.go:111"`,
      );
    }
    const { metadata: _, ...options } = decodeBuiltIn(kind, 'v1', OPTIONS_SCHEMA, value).object;
    return options as BodyOptions;
  } catch (error) {
    if (error instanceof UnreadableBody) throw badRequest(error.message);
    if (error instanceof StatusError && error.code === 400)
      throw badRequest(error.message.replace(/^.* cannot be handled as a \S+: /, ''));
    throw error;
  }
}

/** deleteObject deletes one object, or starts its deletion: finalizers and a grace period keep it. */
export async function deleteObject(
  context: RequestContext,
  name: string,
  namespace: string,
  options: DeleteOptions,
): Promise<Deleted> {
  const { storage, resource, admission, clock } = context;
  const key = keyIn(resource.scope === 'Namespaced' ? namespace : '', name);
  for (const attempts = new WriteAttempts(context); ; attempts.repeat()) {
    const stored = storage.get(resource.collection, key);
    if (!stored) throw notFound(resourceName(context), name);
    const state = viewed(resource, stored);
    const old = draftOf(state);
    checkPreconditions(context, name, old, options);
    const review = {
      operation: 'DELETE' as const,
      resource,
      subresource: '',
      namespace,
      // The name in the path: empty for an object that is deleted with its collection.
      name: context.info.name,
      object: undefined,
      old,
      ...reviewParts(context, options),
    };
    await admission.mutate(review);
    await admission.validate(review);
    const now = clock.now();
    const object = markDeleted(context, draftOf(state), options, now);
    resource.strategy.prepareForDelete?.(object, old, now);
    if (isRemovable(object, resource)) {
      const last = options.dryRun
        ? object
        : storage.remove(resource.collection, key, stored.revision, { ...object, metadata: { ...old.metadata } });
      // Only kinds with graceful deletion report the grace period that was granted.
      if (last) return { isGone: true, last, object: resource.strategy.gracePeriodSeconds ? object : old };
    } else {
      const next = options.dryRun
        ? storedFrom(key, stored.revision, object)
        : storage.update(resource.collection, key, stored.revision, object);
      if (next) return { isGone: false, stored: viewed(resource, next) };
    }
    if (options.resourceVersion !== undefined) throw conflict(resourceName(context), name);
  }
}

/** deletedStatus returns the response for an object that is gone. */
export function deletedStatus({ resource }: RequestContext, name: string, uid: string): Status {
  const details = { name, group: resource.group || undefined, kind: resource.resource, uid };
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details };
}

/** markDeleted marks an object as being deleted, for controllers that have work to do before it is removed. */
function markDeleted({ resource }: RequestContext, object: Draft, options: DeleteOptions, now: number): Draft {
  const { metadata } = object;
  const finalizers = new Set(metadata.finalizers ?? []);
  if (options.propagationPolicy !== undefined) {
    finalizers.delete(FOREGROUND);
    finalizers.delete(ORPHAN);
    if (options.propagationPolicy === 'Foreground') finalizers.add(FOREGROUND);
    if (options.propagationPolicy === 'Orphan') finalizers.add(ORPHAN);
  }
  metadata.finalizers = finalizers.size > 0 ? [...finalizers] : undefined;
  const grace = resource.strategy.gracePeriodSeconds?.(object, options.gracePeriodSeconds) ?? 0;
  if (metadata.deletionTimestamp === undefined) {
    metadata.deletionTimestamp = formatTime(now + grace * 1_000);
    metadata.deletionGracePeriodSeconds = grace;
    if (metadata.generation !== undefined) metadata.generation += 1;
  } else if (grace < (metadata.deletionGracePeriodSeconds ?? 0)) {
    // A second deletion can only shorten the grace period.
    metadata.deletionTimestamp = formatTime(now + grace * 1_000);
    metadata.deletionGracePeriodSeconds = grace;
  }
  return object;
}

function checkPreconditions(context: RequestContext, name: string, { metadata }: Draft, options: DeleteOptions): void {
  const { uid, resourceVersion } = options;
  // Here the API server uses the kind in place of the resource.
  const what = { group: context.resource.group, resource: context.resource.kind };
  if (uid !== undefined && uid !== metadata.uid) {
    const why = `the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid}). The object might have been deleted and then recreated`;
    throw conflict(what, name, why);
  }
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {
    const why = `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${metadata.resourceVersion}). The object might have been modified`;
    throw conflict(what, name, why);
  }
}
