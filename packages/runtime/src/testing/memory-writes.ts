import { apiVersionOf, type KubernetesObject, type ObjectKey, type Resource } from '@bowline/kubernetes';
import { schemaFor } from '@bowline/kubernetes/schemas';
import {
  applyJsonPatch,
  applyMergePatch,
  describeProblems,
  isSameJson,
  type JsonObject,
  type JsonPatchOperation,
  strategicMerge,
} from '@bowline/machinery';
import { isCustomResource } from '../resource/custom-resource.ts';
import type { TransportRequest } from '../transport/transport.ts';
import { applied, managedFieldsOf, type Writer } from './field-tracking.ts';
import type { MemoryObject, MemoryObjects } from './memory-objects.ts';
import { StatusError, throwNotFound } from './memory-responses.ts';

/** RecordedWrite is a request that changed something, or requested a change that had no effect. */
export interface RecordedWrite {
  /** `apply` is a patch by server-side apply; `patch` is any other. */
  readonly verb: 'create' | 'update' | 'apply' | 'patch' | 'delete';
  readonly kind: string;
  readonly key: ObjectKey;
  /** Undefined for the object itself. */
  readonly subresource: string | undefined;
  /** The body of the request: the object, the patch, or the options of a deletion. */
  readonly body: unknown;
  readonly fieldManager: string | undefined;
}

/** WriteRequest is a request that is not a read, without its transport. */
interface WriteRequest {
  readonly kind: Resource;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
  readonly verb: RecordedWrite['verb'];
  readonly contentType: string;
  readonly body: unknown;
  readonly fieldManager: string | undefined;
  readonly isDryRun: boolean;
}

/** The result of a write. `recorded` is undefined for a dry run. */
interface WriteResult {
  readonly object: object;
  readonly recorded: RecordedWrite | undefined;
}

/**
 * An apply to an object that does not exist carries this version, so that it fails if the object exists by then. The
 * real API server compares versions only if there is an object.
 */
const ABSENT_VERSION = '1';

/** writeRequest reads a request that is not a read. */
export function writeRequest(
  request: TransportRequest,
  url: URL,
  target: Pick<WriteRequest, 'kind' | 'namespace' | 'name' | 'subresource'>,
): WriteRequest {
  const contentType = request.headers?.['content-type'] ?? '';
  const body: unknown = typeof request.body === 'string' && request.body !== '' ? JSON.parse(request.body) : undefined;
  return {
    ...target,
    name: target.name ?? (body as Partial<MemoryObject> | undefined)?.metadata?.name,
    verb: verbOf(request.method, contentType),
    contentType,
    body,
    fieldManager: url.searchParams.get('fieldManager') ?? undefined,
    isDryRun: url.searchParams.get('dryRun') === 'All',
  };
}

/** write carries out a write; it throws a StatusError if the request is rejected. */
export function write(objects: MemoryObjects, request: WriteRequest): WriteResult {
  const { kind, namespace, name = '', subresource, verb, body, fieldManager, isDryRun } = request;
  const object = change(objects, request);
  const key = namespace === undefined ? { name } : { namespace, name };
  const recorded = { verb, kind: kind.kind, key, subresource, body, fieldManager };
  return { object, recorded: isDryRun ? undefined : recorded };
}

function change(objects: MemoryObjects, request: WriteRequest): object {
  const { kind, namespace, name, subresource, verb, body } = request;
  const existing = objects.get(kind, { namespace, name });
  if (verb === 'create') {
    if (existing) throw new StatusError(409, 'AlreadyExists');
    return commit(objects, request, withServerMetadata(request, withDefaults(kind, body), undefined), undefined);
  }
  if (verb === 'apply' && !existing) {
    const { resourceVersion } = (body as MemoryObject).metadata ?? {};
    if (resourceVersion !== undefined && resourceVersion !== ABSENT_VERSION) throw new StatusError(409, 'Conflict');
    return commit(objects, request, withServerMetadata(request, withDefaults(kind, body), undefined), undefined);
  }
  if (existing === undefined || name === undefined) return throwNotFound(kind, name ?? '');
  if (verb === 'delete') return remove(objects, request, existing);
  const next = patched(request, existing);
  checkIdentity(existing, next);
  const whole =
    subresource === 'status'
      ? { ...existing, status: next.status }
      : { ...next, ...('status' in existing ? { status: existing.status } : {}) };
  return commit(objects, request, withServerMetadata(request, whole, existing), existing);
}

/**
 * commit stores an object if it differs from the stored one. An object that is being deleted is removed with its last
 * finalizer.
 */
function commit(
  objects: MemoryObjects,
  request: WriteRequest,
  wanted: MemoryObject,
  existing: MemoryObject | undefined,
): object {
  const { kind, verb, body, isDryRun } = request;
  if (isDryRun) return wanted;
  const before: KubernetesObject = existing ?? {};
  checkSchema(kind, wanted, existing);
  const applying = verb === 'apply' ? (body as JsonObject) : undefined;
  const managedFields = managedFieldsOf(before, wanted, kind, writerOf(request), applying);
  const next: MemoryObject = { ...wanted, metadata: { ...wanted.metadata, managedFields } };
  if (existing && isSameJson(contentOf(existing), contentOf(next))) return existing;
  const stored = objects.store(kind, next, existing);
  const { deletionTimestamp, finalizers = [], name, namespace } = stored.metadata ?? {};
  if (deletionTimestamp !== undefined && finalizers.length === 0) objects.remove(kind, { namespace, name });
  return stored;
}

function remove(objects: MemoryObjects, request: WriteRequest, existing: MemoryObject): object {
  const { kind, namespace, name, body, isDryRun } = request;
  const { preconditions = {} } = (body ?? {}) as { preconditions?: { uid?: string; resourceVersion?: string } };
  checkIdentity(existing, { metadata: preconditions });
  const { finalizers = [], deletionTimestamp, uid } = existing.metadata ?? {};
  if (finalizers.length > 0) {
    return deletionTimestamp !== undefined || isDryRun ? existing : objects.markDeleted(kind, existing);
  }
  if (!isDryRun) objects.remove(kind, { namespace, name });
  return { apiVersion: 'v1', kind: 'Status', status: 'Success', details: { name, uid } };
}

/** patched returns the result of an update, a patch or an apply. */
function patched(request: WriteRequest, existing: MemoryObject): MemoryObject {
  const { kind, verb, contentType: type, body } = request;
  // Each branch returns an object of the kind: the bodies were created by this package's client.
  if (verb === 'update') return body as MemoryObject;
  if (verb === 'apply') return applied(existing, body as JsonObject, kind, writerOf(request));
  if (type.includes('json-patch')) {
    return applyJsonPatch(existing, body as readonly JsonPatchOperation[]) as MemoryObject;
  }
  if (!type.includes('strategic')) return applyMergePatch(existing, body) as MemoryObject;
  const schema = schemaFor(apiVersionOf(kind), kind.kind);
  if (!schema) throw new StatusError(415);
  return strategicMerge(existing, body as JsonObject, schema) as MemoryObject;
}

function verbOf(method: TransportRequest['method'], contentType: string): RecordedWrite['verb'] {
  if (method === 'POST') return 'create';
  if (method === 'PUT') return 'update';
  if (method === 'DELETE') return 'delete';
  return contentType.includes('apply-patch') ? 'apply' : 'patch';
}

function writerOf({ fieldManager, verb, subresource }: WriteRequest): Writer {
  return {
    manager: fieldManager ?? 'unknown',
    operation: verb === 'apply' ? 'Apply' : 'Update',
    subresource: subresource ?? '',
  };
}

/** checkSchema rejects what the schema of a kind does not allow; other kinds are not checked. */
function checkSchema(kind: Resource, wanted: MemoryObject, oldObject: MemoryObject | undefined): void {
  const problems = isCustomResource(kind) ? kind.validate(wanted, { oldObject }) : [];
  if (problems.length === 0) return;
  const name = wanted.metadata?.name ?? '';
  const causes = problems.map(({ field, reason, message }) => ({ field, reason, message }));
  const message = `${kind.kind} "${name}" is invalid: ${describeProblems(problems)}`;
  throw new StatusError(422, 'Invalid', message, { group: kind.group, kind: kind.kind, name, causes });
}

/** checkIdentity rejects a write to another object, or to another state of it, than its writer has seen. */
function checkIdentity(existing: MemoryObject, wanted: Pick<MemoryObject, 'metadata'>): void {
  const { uid, resourceVersion } = wanted.metadata ?? {};
  if (uid !== undefined && uid !== existing.metadata?.uid) throw new StatusError(409, 'Conflict');
  if (resourceVersion && resourceVersion !== existing.metadata?.resourceVersion) {
    throw new StatusError(409, 'Conflict');
  }
}

/** withServerMetadata sets the metadata that a writer cannot choose. */
function withServerMetadata(
  { namespace, name }: WriteRequest,
  wanted: MemoryObject,
  existing: MemoryObject | undefined,
): MemoryObject {
  const { uid: _, resourceVersion: __, ...metadata } = wanted.metadata ?? {};
  const { deletionTimestamp } = existing?.metadata ?? {};
  return {
    ...wanted,
    metadata: {
      ...metadata,
      name,
      ...(namespace === undefined ? {} : { namespace }),
      ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    },
  };
}

/** A kind with a schema has defaults; a new object has no status until one is written. */
function withDefaults(kind: Resource, body: unknown): MemoryObject {
  const { status: _, ...object } = body as MemoryObject;
  return (isCustomResource(kind) ? kind.withDefaults(object) : object) as MemoryObject;
}

/** Returns the content that matters to clients: everything except what the server sets. */
function contentOf(object: MemoryObject): object {
  const { resourceVersion: _, generation: __, uid: ___, creationTimestamp: ____, ...metadata } = object.metadata ?? {};
  // Through JSON, so that undefined members are missing.
  const whole = JSON.parse(JSON.stringify({ ...object, metadata })) as MemoryObject;
  const { apiVersion: _____, kind: ______, ...content } = whole;
  return content;
}
