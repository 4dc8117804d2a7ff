import {
  applyJsonPatch,
  applyMergePatch,
  BowlineError,
  type JsonPatchOperation,
  quoteText,
  StrategicMergeError,
} from '@bowline/machinery';
import { type Body, MAX_BODY_BYTES, mediaTypeOf } from '../bodies/decode-body.ts';
import type { ApiResource, Draft, Strategy } from '../registry/api-resource.ts';
import { badRequest, invalid, StatusError, unsupportedMediaType } from '../status/api-status.ts';
import { applyObject } from './apply.ts';
import type { RequestContext } from './context.ts';
import type { WriteResult } from './create.ts';
import { reportUnknownFields } from './decode-request.ts';
import { APPLY_PATCH, decodePatch, JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH } from './patch-body.ts';
import { patchProblem } from './patch-problem.ts';
import { updateObject } from './update.ts';
import { writeOptions } from './write-options.ts';

/** PatchView is another view of an object, to which a patch is applied instead. */
export interface PatchView {
  readonly resource: ApiResource;
  project(object: Draft): Draft;
  /** applyTo returns the object changed according to the view. */
  applyTo(object: Draft, shown: Draft): Draft;
}

/** patchObject changes an object by a patch in any of the formats that its kind supports. */
export async function patchObject(context: RequestContext, strategy: Strategy, view?: PatchView): Promise<WriteResult> {
  const { request } = context;
  const resource = view?.resource ?? context.resource;
  const reader = view?.resource.strategy ?? strategy;
  const options = writeOptions(context, 'PatchOptions');
  const type = mediaTypeOf(request.headers['content-type']);
  const accepted = [JSON_PATCH, MERGE_PATCH, ...(resource.schema ? [STRATEGIC_PATCH] : [])];
  // The field ownership of a view is not recorded, so there is nothing to merge with.
  if (!view) accepted.push(APPLY_PATCH);
  if (!accepted.includes(type)) {
    // For built-in kinds another component of the API server responds, with less detail.
    throw resource.schema
      ? new StatusError(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {})
      : unsupportedMediaType(accepted);
  }
  if (type !== APPLY_PATCH && context.query.has('force')) {
    throw invalid({ group: 'meta.k8s.io', kind: 'PatchOptions' }, '', [
      { field: 'force', reason: 'FieldValueForbidden', message: 'Forbidden: may not be specified for non-apply patch' },
    ]);
  }
  const bytes = await request.body(MAX_BODY_BYTES);
  if (type === APPLY_PATCH) return applyObject(context, strategy, bytes, options);
  const body = decodePatch(bytes, type);
  const change = patcher({ ...context, resource }, type, body);
  const read = (result: Readonly<Record<string, unknown>>): Draft => {
    try {
      const { object, unknown } = reader.decode(result);
      reportUnknownFields(context, body, unknown, options.fieldValidation);
      return object;
    } catch (error) {
      throw patchProblem(error, type, body.value, result);
    }
  };
  return updateObject(
    context,
    {
      strategy,
      mayRetry: true,
      make(old) {
        const shown = view ? view.project(old) : old;
        const result = asRecord(change({ ...typed(resource), ...shown }));
        checkKind(resource, result, shown.metadata.name ?? '');
        const object = read(result);
        // A patch that does not set the version applies to any version.
        if (object.metadata.resourceVersion === old.metadata.resourceVersion)
          object.metadata.resourceVersion = undefined;
        return view ? view.applyTo(old, object) : object;
      },
    },
    options,
  );
}

type Change = (document: unknown) => unknown;

function patcher({ resource: { schema }, strategicMerge }: RequestContext, type: string, { value }: Body): Change {
  switch (type) {
    case STRATEGIC_PATCH:
      return (document) => {
        try {
          // Kinds without a schema were rejected before.
          return strategicMerge(document, asRecord(value), schema ?? {});
        } catch (error) {
          if (!(error instanceof StrategicMergeError)) throw error;
          if (error.code === 'BOWLINE_PATCH_INVALID') throw badRequest(error.detail);
          // The API server reports a patch that does not apply as an internal error.
          throw new StatusError(500, undefined, error.detail);
        }
      };
    case JSON_PATCH:
      return (document) => {
        try {
          // Applying the patch checks its shape. The API server does not replace the whole document.
          if ((value as readonly { path?: unknown }[]).some((each) => each?.path === '')) throw rejected();
          return applyJsonPatch(document, value as readonly JsonPatchOperation[]);
        } catch (error) {
          if (!(error instanceof BowlineError)) throw error;
          throw rejected();
        }
      };
    default:
      return (document) => applyMergePatch(document, asRecord(value));
  }
}

function rejected(): StatusError {
  return new StatusError(422, 'Invalid', 'the server rejected our request due to an error in our request', {});
}

/** checkKind rejects a patch that changes the kind of a custom resource. */
function checkKind(resource: ApiResource, result: Readonly<Record<string, unknown>>, name: string): void {
  if (resource.schema) return;
  const expected = typed(resource);
  // A value that is not a string counts as missing.
  const [apiVersion, kind] = [result.apiVersion, result.kind].map((each) => (typeof each === 'string' ? each : ''));
  const wrong = (what: { group: string; kind: string }, field: string, found = '', wanted = ''): never => {
    const message = `Invalid value: ${quoteText(found)}: must be ${wanted}`;
    throw invalid(what, name, [{ field, reason: 'FieldValueInvalid', message }]);
  };
  if (apiVersion !== expected.apiVersion)
    wrong({ group: '', kind: resource.kind }, 'apiVersion', apiVersion, expected.apiVersion);
  if (kind !== expected.kind) wrong({ group: resource.group, kind: kind ?? '' }, 'kind', kind, expected.kind);
}

function typed({ group, version, kind }: ApiResource): Pick<Draft, 'apiVersion' | 'kind'> {
  return { apiVersion: group === '' ? version : `${group}/${version}`, kind };
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw badRequest('the result of the patch is not an object');
}
