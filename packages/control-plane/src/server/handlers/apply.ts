import { apiVersionOf } from '@bowline/kubernetes';
import type { JsonObject } from '@bowline/machinery';
import { decodeYaml, jsonType, UnreadableBody } from '../bodies/decode-body.ts';
import type { Draft, Strategy } from '../registry/api-resource.ts';
import { badRequest, conflict, invalid, notFound, otherNamespace } from '../status/api-status.ts';
import { type RequestContext, resourceName } from './context.ts';
import { createObject, type WriteResult } from './create.ts';
import { createOrUpdate } from './create-or-update.ts';
import { MAX_REPORTED_FIELDS } from './decode-request.ts';
import { updateObject } from './update.ts';
import type { WriteOptions } from './write-options.ts';

/** applyObject performs a server-side apply: it creates the object if it does not exist. */
export async function applyObject(
  context: RequestContext,
  strategy: Strategy,
  bytes: Uint8Array,
  options: WriteOptions,
): Promise<WriteResult> {
  const { resource, info, fields, clock, query } = context;
  if (!query.get('fieldManager')) {
    throw invalid({ group: 'meta.k8s.io', kind: 'PatchOptions' }, '', [
      { field: 'fieldManager', reason: 'FieldValueRequired', message: 'Required value: is required for apply patch' },
    ]);
  }
  const applied = await appliedObject(context, bytes, options);
  const metadata = applied.metadata as { resourceVersion?: unknown; uid?: unknown } | null | undefined;
  const { fieldManager: manager, force } = options;
  const merge = (old: Draft | undefined): Draft => {
    const writer = { manager, subresource: info.subresource, now: clock.now(), force };
    // The merged object shares parts with the applied one, and may be changed.
    const merged = fields.apply(resource, old, structuredClone(applied), writer);
    const { object } = strategy.decode(merged);
    checkIdentity(context, object, old);
    return object;
  };
  const create = (): Promise<WriteResult> => {
    if (info.subresource !== '') throw notFound(resourceName(context), info.name);
    if (metadata?.uid) {
      const why = `uid mismatch: the provided object specified uid ${String(metadata.uid)}, and no existing object was found`;
      throw conflict(resourceName(context), info.name, why);
    }
    const object = merge(undefined);
    // The version of the applied object is ignored: there is no existing state that it could differ from.
    object.metadata.resourceVersion = undefined;
    return createObject(context, object, options, { tracksFields: false });
  };
  const revision = { strategy, mayRetry: !metadata?.resourceVersion, tracksFields: false, make: merge };
  return createOrUpdate(context, { create, update: () => updateObject(context, revision, options) });
}

/** appliedObject returns the sent object, checked for its kind and otherwise unchanged: omitted fields matter. */
async function appliedObject(
  { resource, warnings }: RequestContext,
  bytes: Uint8Array,
  { fieldValidation }: WriteOptions,
): Promise<JsonObject> {
  const { value, duplicates, refusals = duplicates } = await decoded(bytes);
  if (refusals.length > 0 && fieldValidation === 'Strict')
    throw badRequest(`error strict decoding YAML: error converting YAML to JSON: ${refusals.join(', ')}`);
  if (fieldValidation === 'Warn') warnings.push(...duplicates.slice(0, MAX_REPORTED_FIELDS));
  const applied = value ?? {};
  if (typeof applied !== 'object' || Array.isArray(applied)) {
    throw badRequest(
      `error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${jsonType(applied)} into Go value of type map[string]interface {}`,
    );
  }
  const { apiVersion, kind, metadata } = applied as { apiVersion?: unknown; kind?: unknown; metadata?: unknown };
  if (kind !== resource.kind || apiVersion !== apiVersionOf(resource)) {
    throw badRequest(`invalid object type: ${groupVersionText(apiVersion)}, Kind=${textOf(kind)}`);
  }
  const managed = (metadata as { managedFields?: unknown } | null | undefined)?.managedFields;
  if (managed !== undefined && managed !== null) throw badRequest('metadata.managedFields must be nil');
  return applied as JsonObject;
}

async function decoded(bytes: Uint8Array): ReturnType<typeof decodeYaml> {
  try {
    return await decodeYaml(bytes);
  } catch (error) {
    if (!(error instanceof UnreadableBody)) throw error;
    throw badRequest(`error decoding YAML: error converting YAML to JSON: ${error.message}`);
  }
}

function groupVersionText(apiVersion: unknown): string {
  const text = textOf(apiVersion);
  return text.includes('/') ? text : `/${text}`;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** checkIdentity rejects an object without a name, or with the identity of another object. */
function checkIdentity({ resource, info }: RequestContext, { metadata }: Draft, old: Draft | undefined): void {
  if (!metadata.name) {
    throw badRequest(`the name of the object (${info.name} based on URL) was undeterminable: name must be provided`);
  }
  if (old && metadata.uid && metadata.uid !== old.metadata.uid) {
    const message = `Invalid value: ${JSON.stringify(metadata.uid)}: field is immutable`;
    throw invalid(resource, info.name, [{ field: 'metadata.uid', reason: 'FieldValueInvalid', message }]);
  }
  if (resource.scope !== 'Namespaced') metadata.namespace = undefined;
  else metadata.namespace ||= info.namespace;
  if (resource.scope === 'Namespaced' && metadata.namespace !== info.namespace) {
    throw otherNamespace();
  }
}
