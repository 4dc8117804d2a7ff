import { Namespace } from '@bowline/kubernetes';
import type { SecretSyncRequest } from '../annotation/secret-sync-request.ts';
import { permit } from '../policy/permit.ts';
import type { Source } from '../sources/source.ts';
import type { SecretContext } from './controller.ts';
import { targetOf } from './observed-secret.ts';
import type { Problem } from './problem.ts';

/** Verdict is the source that a request may read, or why it may not. */
export type Verdict = { readonly source: Source } | { readonly problem: Problem };

/**
 * canDecide reports whether the permissions of the namespace are known, if they can be known at all. Pods of a new
 * namespace may be observed before the namespace is, and its annotation may restrict what they may read.
 */
export function canDecide({ key, get, list }: Pick<SecretContext, 'key' | 'get' | 'list'>): boolean {
  // An operator limited to some namespaces sees no Namespace; in a whole cluster there is always at least one.
  return get(Namespace, { name: targetOf({ key }).namespace }) !== undefined || list(Namespace).length === 0;
}

/**
 * isNamespaceTerminating reports whether the namespace is being deleted: nothing can be written there then, and no pod
 * waits for it.
 */
export function isNamespaceTerminating({ key, get }: Pick<SecretContext, 'key' | 'get'>): boolean {
  return get(Namespace, { name: targetOf({ key }).namespace })?.metadata.deletionTimestamp !== undefined;
}

/**
 * checkPermission decides whether a request is permitted. It is called in every run, so revoked permissions take effect
 * at once.
 */
export function checkPermission(context: SecretContext, request: SecretSyncRequest): Verdict {
  const { get, deps } = context;
  const { namespace } = targetOf(context);
  const { provider, path, versionStage, versionId } = request;
  const kind = deps.kinds.get(provider);
  // The annotation was parsed with the names of these kinds, and they checked its paths.
  if (!kind) throw new TypeError(`the request names the unknown provider ${provider}`);
  const names = kind.names(path);
  const observedNamespace = get(Namespace, { name: namespace });
  const annotations = observedNamespace && (observedNamespace.metadata.annotations ?? {});
  const permitted = permit({ request, names, namespace, annotations }, deps.policy);
  if ('reason' in permitted) return { problem: permitted };
  const { region, role } = permitted;
  return { source: { provider, ref: { path: names[0], versionStage, versionId, region, role, namespace } } };
}
