import { apiVersionOf } from '@bowline/kubernetes';
import { type BodyDecoder, bodyDecoders, mediaTypeOf } from '../bodies/decode-body.ts';
import type { ExpectedKind } from '../protobuf/decode-protobuf.ts';
import { PROTOBUF, protobufDecoder } from '../protobuf/protobuf-decoder.ts';
import type { RequestContext } from './context.ts';

const DELETE_OPTIONS: ExpectedKind = { apiVersion: 'meta.k8s.io/v1', kind: 'DeleteOptions' };
const OF_CUSTOM = bodyDecoders();
const OF_BUILT_IN = bodyDecoders({ [PROTOBUF]: protobufDecoder(DELETE_OPTIONS) });

/** bodyFormats returns the decoders for the body of a request. Only built-in kinds have a protobuf encoding. */
export function bodyFormats(context: RequestContext): ReadonlyMap<string, BodyDecoder> {
  const { resource, request } = context;
  if (!resource.schema) return OF_CUSTOM;
  if (mediaTypeOf(request.headers['content-type']) !== PROTOBUF) return OF_BUILT_IN;
  return bodyDecoders({ [PROTOBUF]: protobufDecoder(expectedKind(context)) });
}

function expectedKind({ resource, info: { verb, subresource } }: RequestContext): ExpectedKind {
  if (verb === 'delete' || verb === 'deletecollection') return DELETE_OPTIONS;
  const { group, version, kind } = resource;
  const part = resource.subresources.get(subresource);
  const apiVersion = apiVersionOf({ group: part?.group ?? group, version: part?.version ?? version });
  return { apiVersion, kind: part?.kind ?? kind };
}
