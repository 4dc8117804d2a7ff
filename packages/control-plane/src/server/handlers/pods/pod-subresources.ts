import type { BodyDecoder } from '../../bodies/decode-body.ts';
import type { ApiResponse } from '../../http/api-request.ts';
import type { RequestContext } from '../context.ts';

/** SubresourceHandler handles the requests of a subresource that has its own protocol. */
export type SubresourceHandler = (
  context: RequestContext,
  decoders: ReadonlyMap<string, BodyDecoder>,
) => Promise<ApiResponse>;

/**
 * POD_SUBRESOURCES holds the handlers of Pod subresources, by name. Each is loaded on first use: many servers need
 * none.
 */
export const POD_SUBRESOURCES: ReadonlyMap<string, SubresourceHandler> = new Map<string, SubresourceHandler>([
  ['binding', async (context, decoders) => (await import('./bind-pod.ts')).bindPod(context, decoders)],
  ['eviction', async (context, decoders) => (await import('./evict-pod.ts')).evictPod(context, decoders)],
  ['log', async (context) => (await import('./read-pod-log.ts')).readPodLog(context)],
]);
