import { Namespace } from '@bowline/kubernetes';
import type { SecretSyncRequest } from '../annotation/secret-sync-request.ts';
import { permit } from '../policy/permit.ts';
import type { Source } from '../sources/source.ts';
import { targetOf } from './look.ts';
import type { Problem } from './problem.ts';
import type { SecretContext } from './watching.ts';

/** Verdict is what a request may read, or why it may not. */
export type Verdict = { readonly source: Source } | { readonly problem: Problem };

/**
 * canJudge is whether it is known what the namespace permits, where that can be known at all: of a namespace that was made a moment
 * ago the pods may be seen before it is, and it may permit less than nothing said.
 */
export function canJudge({ key, get, list }: Pick<SecretContext, 'key' | 'get' | 'list'>): boolean {
  // Limited to namespaces we see none; in a whole cluster there are always some.
  return get(Namespace, { name: targetOf({ key }).namespace }) !== undefined || list(Namespace).length === 0;
}

/** isNamespaceGoing is whether the namespace is being deleted: then nothing can be written there, and nobody waits for it. */
export function isNamespaceGoing({ key, get }: Pick<SecretContext, 'key' | 'get'>): boolean {
  return get(Namespace, { name: targetOf({ key }).namespace })?.metadata.deletionTimestamp !== undefined;
}

/** judge decides whether a request may have what it asks for. Asked in every run: rights that are taken away count at once. */
export function judge(context: SecretContext, request: SecretSyncRequest): Verdict {
  const { get, deps } = context;
  const { namespace } = targetOf(context);
  const { provider, path, versionStage, versionId } = request;
  const kind = deps.kinds.get(provider);
  // The annotation was read with the names of these kinds, and its paths checked by them.
  if (!kind) throw new TypeError(`a request names the provider ${provider}, which is not known`);
  const names = kind.names(path);
  const seen = get(Namespace, { name: namespace });
  const annotations = seen && (seen.metadata.annotations ?? {});
  const permitted = permit({ request, names, namespace, annotations }, deps.policy);
  if ('reason' in permitted) return { problem: permitted };
  const { region, role } = permitted;
  return { source: { provider, ref: { path: names[0], versionStage, versionId, region, role, namespace } } };
}
