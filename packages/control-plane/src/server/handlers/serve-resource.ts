import { canonicalJson, quoteText } from '@bowline/machinery';
import type { BodyDecoder } from '../bodies/decode-body.ts';
import type { ApiResponse } from '../http/api-request.ts';
import { type Representation, representationOf } from '../http/negotiate.ts';
import { eventText, type FormOptions, listFormText, objectText } from '../printing/forms.ts';
import { draftText } from '../printing/render.ts';
import type { ApiResource, Draft, Strategy } from '../registry/api-resource.ts';
import { badRequest, methodNotAllowed, noSuchResource, notFound } from '../status/api-status.ts';
import { type Stored, splitKey } from '../storage/stored.ts';
import { computeObject } from './compute-object.ts';
import { type RequestContext, resourceName } from './context.ts';
import { createObject, type WriteResult } from './create.ts';
import { createOrUpdate } from './create-or-update.ts';
import { decodeRequestBody, decodeRequestObject } from './decode-request.ts';
import { deletedStatus, deleteObject, deleteOptions } from './delete.ts';
import { patchObject } from './patch.ts';
import { POD_SUBRESOURCES } from './pods/pod-subresources.ts';
import { serveProjection } from './projection.ts';
import { readList, readObject } from './read.ts';
import { checkMatchesPath, updateObject } from './update.ts';
import { watchEvents } from './watch.ts';
import { writeOptions } from './write-options.ts';

const JSON_HEADERS = { 'content-type': 'application/json' };

/** serveResource handles an authorized request about objects: from here on, routing depends only on the verb. */
export async function serveResource(
  context: RequestContext,
  decoders: ReadonlyMap<string, BodyDecoder>,
): Promise<ApiResponse> {
  const { resource, info } = context;
  if (info.namespace !== '' && resource.scope === 'Cluster' && resource.resource !== 'namespaces')
    throw noSuchResource();
  const strategy = strategyFor(context);
  checkName(info.name);
  const handler = resource.collection === 'pods' ? POD_SUBRESOURCES.get(info.subresource) : undefined;
  if (handler) return handler(context, decoders);
  const { projection } = resource.subresources.get(info.subresource) ?? {};
  if (projection) return serveProjection(context, projection, decoders);
  switch (info.verb) {
    case 'get':
      return json(200, objectText(formOf(context), await readObject(context)));
    case 'list':
      return json(200, listFormText(formOf(context), await readList(context)));
    case 'watch':
      return {
        status: 200,
        headers: { 'content-type': 'application/json', 'cache-control': 'no-cache, private' },
        body: await watchEvents(context, eventText(formOf(context))),
      };
    case 'create': {
      const options = writeOptions(context, 'CreateOptions');
      const kind = createdKind(context);
      const created = { ...context, resource: kind };
      const body = await decodeRequestBody(context.request, decoders, kind);
      const object = decodeRequestObject(created, body, kind.strategy, options.fieldValidation);
      context.audited.name = object.metadata.name;
      const result = kind.computeResponse
        ? computeObject(context, kind, kind.computeResponse, object, options)
        : createObject(context, object, options);
      return written(created, await result);
    }
    case 'update': {
      const options = writeOptions(context, 'UpdateOptions');
      const object = decodeRequestObject(
        context,
        await decodeRequestBody(context.request, decoders, context.resource),
        strategy,
        options.fieldValidation,
      );
      checkMatchesPath(context, object);
      const mayRetry = !object.metadata.resourceVersion;
      const make = (): Draft => (mayRetry ? structuredClone(object) : object);
      const update = (): Promise<WriteResult> => updateObject(context, { strategy, mayRetry, make }, options);
      if (!resource.createsOnUpdate || info.subresource !== '') return written(context, await update());
      const create = (): Promise<WriteResult> => createObject(context, make(), options);
      return written(context, await createOrUpdate(context, { create, update }));
    }
    case 'patch':
      return written(context, await patchObject(context, strategy));
    case 'delete': {
      const result = await deleteObject(context, info.name, info.namespace, await deleteOptions(context, decoders));
      if (!result.isGone) return json(200, objectText(formOf(context), result.stored));
      if (strategy.returnsDeletedObject) return written(context, { isNew: false, draft: result.object });
      const uid = 'uid' in result.last ? result.last.uid : result.last.metadata.uid;
      return json(200, JSON.stringify(deletedStatus(context, info.name, String(uid))));
    }
    case 'deletecollection':
      return deleteCollection(context, decoders);
    default:
      throw methodNotAllowed();
  }
}

/** checkName rejects names that would have another meaning as part of a path. */
function checkName(name: string): void {
  const problem =
    name === '.' || name === '..' ? `may not be '${name}'` : name.includes('%') ? "may not contain '%'" : '';
  if (problem !== '') throw badRequest(`Name parameter invalid: ${JSON.stringify(name)}: ${problem}`);
}

/** createdKind returns the kind that is created at the path; a subresource must create a kind of its own. */
function createdKind(context: RequestContext): ApiResource {
  const { resource, info } = context;
  if (info.subresource === '') return resource;
  const kind = resource.subresources.get(info.subresource)?.creates;
  if (!kind?.computeResponse) throw methodNotAllowed();
  return kind;
}

/** strategyFor returns the strategy of the object or subresource that the path names. */
function strategyFor(context: RequestContext): Strategy {
  const { resource, info } = context;
  if (info.subresource === '') {
    if (!resource.verbs.includes(info.verb) || !isPlaced(context)) throw methodNotAllowed();
    return resource.strategy;
  }
  const part = resource.subresources.get(info.subresource);
  if (!part) throw resource.schema ? noSuchResource() : notFound(resourceName(context), info.name);
  if (!part.verbs.includes(info.verb)) throw methodNotAllowed();
  return part.strategy ?? resource.strategy;
}

/** isPlaced reports whether a verb applies to the path: objects are created in collections and changed by name. */
function isPlaced({ resource, info: { verb, name, namespace } }: RequestContext): boolean {
  const isWhole = resource.scope === 'Namespaced' && namespace === '';
  if (verb === 'create') return name === '' && !isWhole;
  if (verb === 'update' || verb === 'patch') return name !== '' && !isWhole;
  return verb !== 'deletecollection' || !isWhole;
}

async function deleteCollection(
  context: RequestContext,
  decoders: ReadonlyMap<string, BodyDecoder>,
): Promise<ApiResponse> {
  const options = await deleteOptions(context, decoders);
  const list = await readList(context);
  for (const { key } of list.items) {
    const { name, namespace } = splitKey(key);
    try {
      await deleteObject(context, name, namespace, options);
    } catch (error) {
      // Another client was faster: the object is gone, as requested.
      if ((error as { code?: number }).code !== 404) throw error;
    }
  }
  return json(200, listFormText(formOf(context), list));
}

function formOf(context: RequestContext): FormOptions {
  const forms: Representation[] = ['object', 'table', 'metadata'];
  const form = representationOf(context.request.headers.accept, forms, context.info.verb === 'watch');
  const includeObject = context.query.get('includeObject');
  if (form === 'table' && !['None', 'Metadata', 'Object', ''].includes(includeObject ?? '')) {
    const problem = `includeObject: Invalid value: ${quoteText(includeObject ?? '')}: must be 'Metadata', 'Object', 'None', or empty`;
    throw badRequest(`Unable to convert to Table as requested: ${problem}`);
  }
  return {
    resource: context.resource,
    form,
    includeObject,
    now: context.clock.now(),
  };
}

function written(context: RequestContext, { isNew, stored, draft }: WriteResult): ApiResponse {
  const status = isNew ? 201 : 200;
  if (stored) return json(status, objectText(formOf(context), stored));
  const { resource } = context;
  const form = formOf(context);
  if (form.form === 'object') return json(status, draftText(resource, draft));
  const { uid = '', labels } = draft.metadata;
  const asStored: Stored = {
    key: '',
    revision: 0,
    uid,
    labels,
    json: canonicalJson({ ...draft, apiVersion: undefined, kind: undefined }),
  };
  return json(status, objectText(form, asStored));
}

function json(status: number, body: string): ApiResponse {
  return { status, headers: JSON_HEADERS, body };
}
