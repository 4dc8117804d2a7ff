import type { BodyDecoder } from '../bodies/decode-body.ts';
import type { ApiResponse } from '../http/api-request.ts';
import { draftOf, draftText } from '../printing/render.ts';
import type { ApiResource, Draft, Projection } from '../registry/api-resource.ts';
import { badRequest, methodNotAllowed } from '../status/api-status.ts';
import type { RequestContext } from './context.ts';
import { refuseInvalid, type WriteResult } from './create.ts';
import { decodeRequestBody, decodeRequestObject } from './decode-request.ts';
import { type PatchView, patchObject } from './patch.ts';
import { readObject } from './read.ts';
import { updateObject } from './update.ts';
import { writeOptions } from './write-options.ts';

/** serveProjection handles requests for an object that is shown as another kind. */
export async function serveProjection(
  context: RequestContext,
  projection: Projection,
  decoders: ReadonlyMap<string, BodyDecoder>,
): Promise<ApiResponse> {
  const { info, request, resource: whole } = context;
  const view = viewOf(context, projection);
  const respond = (object: Draft): ApiResponse => ({
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: draftText(view.resource, projection.project(object)),
  });
  const written = ({ stored, draft }: WriteResult): ApiResponse => respond(stored ? draftOf(stored) : draft);
  switch (info.verb) {
    case 'get': {
      const object = draftOf(await readObject(context));
      projection.checkRead?.(object);
      return respond(object);
    }
    case 'update': {
      const options = writeOptions(context, 'UpdateOptions');
      const shown = decodeRequestObject(
        { ...context, resource: view.resource },
        await decodeRequestBody(request, decoders, view.resource),
        view.resource.strategy,
        options.fieldValidation,
      );
      const mayRetry = !shown.metadata.resourceVersion;
      const make = (old: Draft): Draft => view.applyTo(old, shown);
      return written(await updateObject(context, { strategy: whole.strategy, mayRetry, make }, options));
    }
    case 'patch':
      return written(await patchObject(context, whole.strategy, view));
    default:
      throw methodNotAllowed();
  }
}

/** viewOf returns the projection as a view that is decoded, validated and written like an object of its own. */
function viewOf({ resource: whole, info, user, clock }: RequestContext, projection: Projection): PatchView {
  const { group, version, kind, schema, strategy } = projection;
  const resource: ApiResource = { ...whole, group, version, kind, schema, strategy, needsVersion: false };
  return {
    resource,
    project: (object) => projection.project(object),
    applyTo(object, shown) {
      const { name, uid, resourceVersion } = shown.metadata;
      if (!name) {
        throw badRequest(
          `the name of the object (${info.name} based on URL) was undeterminable: name must be provided`,
        );
      }
      if (name !== info.name) {
        throw badRequest(`the name of the object (${name}) does not match the name on the URL (${info.name})`);
      }
      refuseInvalid(resource, shown, strategy.validate(shown, undefined, { user, now: clock.now(), dryRun: false }));
      projection.applyTo(object, shown);
      // The uid and version identify the state that the change was made for; without a version it applies to any.
      object.metadata.uid = uid || object.metadata.uid;
      object.metadata.resourceVersion = resourceVersion;
      return object;
    },
  };
}
