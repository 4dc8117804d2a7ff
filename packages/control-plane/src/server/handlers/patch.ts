import { applyJsonPatch, applyMergePatch, BowlineError, type JsonPatchOperation } from '@bowline/machinery';
import { JsonSyntaxError, parseJson } from '../json/parse-json.ts';
import type { Draft, Strategy } from '../registry/api-resource.ts';
import { badRequest, invalid, notFound, StatusError, unsupportedMediaType } from '../status/api-status.ts';
import { keyIn } from '../storage/stored.ts';
import { type RequestContext, resourceName } from './context.ts';
import { createObject, type WriteResult } from './create.ts';
import { type Body, decodeYaml, MOST_BODY_BYTES, mediaTypeOf } from './decode-body.ts';
import { receivedObject, sayUnknown } from './received.ts';
import { updateObject } from './update.ts';
import { type WriteOptions, writeOptions } from './write-options.ts';

const JSON_PATCH = 'application/json-patch+json';
const MERGE_PATCH = 'application/merge-patch+json';
const STRATEGIC_PATCH = 'application/strategic-merge-patch+json';
const APPLY_PATCH = 'application/apply-patch+yaml';

/** patchObject changes an object by a patch in any of the formats that its kind takes. */
export async function patchObject(context: RequestContext, strategy: Strategy): Promise<WriteResult> {
  const { request, resource } = context;
  const options = writeOptions(context, 'PatchOptions');
  const type = mediaTypeOf(request.headers['content-type']);
  const accepted = [JSON_PATCH, MERGE_PATCH, ...(resource.schema ? [STRATEGIC_PATCH] : []), APPLY_PATCH];
  if (!accepted.includes(type)) throw unsupportedMediaType(accepted);
  if (type !== APPLY_PATCH && context.query.has('force')) {
    throw invalid({ group: 'meta.k8s.io', kind: 'PatchOptions' }, '', [
      { field: 'force', reason: 'FieldValueForbidden', message: 'Forbidden: may not be specified for non-apply patch' },
    ]);
  }
  const bytes = await request.body(MOST_BODY_BYTES);
  if (type === APPLY_PATCH) return applyObject(context, strategy, decodeYaml(bytes), options);
  const body = decodePatch(bytes);
  const change = patcher(context, type, body);
  return updateObject(
    context,
    {
      strategy,
      mayRetry: true,
      make(old) {
        const { object, unknown } = strategy.decode(asRecord(change({ ...typed(context), ...old })));
        sayUnknown(context, body.duplicates, unknown, options.fieldValidation);
        // A patch that says nothing of the version was made for any.
        if (object.metadata.resourceVersion === old.metadata.resourceVersion)
          object.metadata.resourceVersion = undefined;
        return object;
      },
    },
    options,
  );
}

/** applyObject is a server-side apply: it creates what is not there. */
async function applyObject(
  context: RequestContext,
  strategy: Strategy,
  body: Body,
  options: WriteOptions,
): Promise<WriteResult> {
  const { resource, info, storage, fields, clock, query } = context;
  if (!query.get('fieldManager')) {
    throw invalid({ group: 'meta.k8s.io', kind: 'PatchOptions' }, '', [
      { field: 'fieldManager', reason: 'FieldValueRequired', message: 'Required value: is required for apply patch' },
    ]);
  }
  const applied = receivedObject(context, body, strategy, options.fieldValidation);
  if (applied.metadata.managedFields !== undefined) throw badRequest('metadata.managedFields must be nil');
  const writer = {
    manager: options.fieldManager,
    subresource: info.subresource,
    now: clock.now(),
    force: options.force,
  };
  const isThere = storage.get(resource.collection, keyIn(info.namespace, info.name)) !== undefined;
  if (!isThere) {
    if (info.subresource !== '') throw notFound(resourceName(context), info.name);
    if (applied.metadata.uid) {
      const why = `uid mismatch: the provided object specified uid ${applied.metadata.uid}, and no existing object was found`;
      throw new StatusError(
        409,
        'Conflict',
        `Operation cannot be fulfilled on ${resource.resource} ${JSON.stringify(info.name)}: ${why}`,
      );
    }
    applied.metadata.name ??= info.name;
    const object = fields.apply(resource, undefined, applied, writer);
    return createObject(context, object, options, { tracksFields: false });
  }
  return updateObject(
    context,
    {
      strategy,
      mayRetry: !applied.metadata.resourceVersion,
      tracksFields: false,
      make: (old) => fields.apply(resource, old, structuredClone(applied), writer),
    },
    options,
  );
}

type Change = (document: unknown) => unknown;

function patcher({ resource: { schema }, strategicMerge }: RequestContext, type: string, { value }: Body): Change {
  if (type === STRATEGIC_PATCH && schema) return (document) => strategicMerge(document, asRecord(value), schema);
  switch (type) {
    case JSON_PATCH:
      return (document) => {
        try {
          // Its shape is checked where it is applied.
          return applyJsonPatch(document, value as readonly JsonPatchOperation[]);
        } catch (error) {
          if (!(error instanceof BowlineError)) throw error;
          throw new StatusError(422, 'Invalid', 'the server rejected our request due to an error in our request', {});
        }
      };
    default:
      return (document) => applyMergePatch(document, asRecord(value));
  }
}

function decodePatch(bytes: Uint8Array): Body {
  try {
    return parseJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw badRequest(`error decoding patch: ${error.message}`);
    throw badRequest('error decoding patch: the body of the request is not UTF-8');
  }
}

function typed({ resource }: RequestContext): Pick<Draft, 'apiVersion' | 'kind'> {
  const { group, version, kind } = resource;
  return { apiVersion: group === '' ? version : `${group}/${version}`, kind };
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw badRequest('the result of the patch, or the patch itself, is no object');
}
