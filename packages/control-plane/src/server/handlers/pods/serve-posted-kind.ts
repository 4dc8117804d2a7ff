import { schemaFor } from '@bowline/kubernetes/schemas';
import { builtInShape } from '@bowline/machinery';
import type { BodyDecoder } from '../../bodies/decode-body.ts';
import type { ApiResponse } from '../../http/api-request.ts';
import type { ApiResource, Draft } from '../../registry/api-resource.ts';
import { decodeBuiltIn } from '../../registry/decode-built-in.ts';
import { computeObject } from '../compute-object.ts';
import type { RequestContext } from '../context.ts';
import { decodeRequestBody, decodeRequestObject } from '../decode-request.ts';
import { writeOptions } from '../write-options.ts';

/** PostedKind is a kind that is posted to an object to trigger an action, and never stored. */
interface PostedKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** servePostedKind executes the action of a posted object once it is admitted. The response reports success. */
export async function servePostedKind(
  context: RequestContext,
  decoders: ReadonlyMap<string, BodyDecoder>,
  { group, version, kind }: PostedKind,
  act: (posted: Draft, dryRun: boolean) => Promise<void> | void,
): Promise<ApiResponse> {
  const apiVersion = group === '' ? version : `${group}/${version}`;
  const schema = schemaFor(apiVersion, kind);
  if (!schema) throw new TypeError(`no schema is known for ${kind} in ${apiVersion}`);
  const resource: ApiResource = {
    ...context.resource,
    group,
    version,
    kind,
    schema,
    shape: builtInShape(apiVersion, kind),
    strategy: { decode: (value) => decodeBuiltIn(kind, version, schema, value), validate: () => [] },
  };
  const options = writeOptions(context, 'CreateOptions');
  const body = await decodeRequestBody(context.request, decoders, resource);
  const posted = decodeRequestObject({ ...context, resource }, body, resource.strategy, options.fieldValidation);
  // Admission does not see the uid, but it identifies the target object.
  const { uid } = posted.metadata;
  const respond = async (draft: Draft): Promise<Draft> => {
    draft.metadata.uid = uid;
    await act(draft, options.dryRun);
    return draft;
  };
  await computeObject(context, resource, respond, posted, options);
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };
  return { status: 201, headers: { 'content-type': 'application/json' }, body: JSON.stringify(status) };
}
