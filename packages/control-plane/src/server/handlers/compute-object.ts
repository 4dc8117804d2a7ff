import { clearMeta } from '../objects/object-meta.ts';
import type { ApiResource, ComputeResponse, Draft } from '../registry/api-resource.ts';
import { type RequestContext, reviewParts } from './context.ts';
import type { WriteResult } from './create.ts';
import type { WriteOptions } from './write-options.ts';

/**
 * computeObject handles the create of a kind that is not stored: the object is admitted and tracked like any other, and
 * then the response is computed.
 */
export async function computeObject(
  context: RequestContext,
  kind: ApiResource,
  computeResponse: ComputeResponse,
  object: Draft,
  options: WriteOptions,
): Promise<WriteResult> {
  const { resource, info, clock, admission, fields, user } = context;
  const { namespace, name, subresource } = info;
  const now = clock.now();
  clearMeta(object);
  kind.strategy.applyDefaults?.(object);
  fields.created(kind, object, { manager: options.fieldManager, subresource, now });
  const review = {
    operation: 'CREATE' as const,
    resource,
    subresource,
    namespace,
    name,
    object,
    old: undefined,
    ...reviewParts(context, options),
  };
  await admission.mutate(review);
  await admission.validate(review);
  return { isNew: true, draft: await computeResponse(object, { user, now, dryRun: options.dryRun, namespace, name }) };
}
