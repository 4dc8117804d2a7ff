import { ConfigMap } from '@bowline/kubernetes';
import { parseDuration } from '@bowline/machinery';
import { findCondition } from '@bowline/runtime';
import { isConflict, isNotFound } from '@bowline/runtime/client';
import { CR_ANNOTATIONS, objectNames } from '../api/names.ts';
import { type ChangesState, type ChangeWork, followChanges } from '../bidirectional/controller/follow-changes.ts';
import { forgeOf } from '../bidirectional/forges/forge-of.ts';
import type { Discovery } from '../discovery/discover-gateways.ts';
import { parseGitUrl } from '../git/address/git-url.ts';
import type { RepositoryTools } from '../source/git-sources.ts';
import type { SourceState } from './source-state.ts';
import type { SyncContext } from './sync-controller.ts';

/**
 * syncChanges pushes what agents have sent from their gateways, and returns which files are in conflict. Undefined if the repository is
 * not accessed: what agents have sent stays.
 */
export async function syncChanges(
  context: SyncContext,
  { target, access }: SourceState,
  { gateways, starting }: Discovery,
): Promise<ChangesState | undefined> {
  const { object, key, get } = context;
  if (!target || !access) return undefined;
  const stored = get(ConfigMap, { namespace: key.namespace, name: objectNames(key.name).changes });
  const { source, run, trigger } = access;
  const state = followChanges({
    namespace: key.namespace ?? '',
    name: key.name,
    spec: object.spec,
    retry: object.metadata?.annotations?.[CR_ANNOTATIONS.retry] ?? '',
    commit: target.commit,
    ref: target.ref,
    gateways: [...gateways, ...starting].map(({ name, key: gatewayKey, pod }) => ({
      name,
      key: gatewayKey,
      podName: pod.name,
      labels: pod.labels,
    })),
    data: stored?.data ?? {},
    run: (name, maxAgeMs, work) =>
      run.perform({ source, name, trigger, maxAgeMs, work: (tools) => work(changeWork(context, tools)) }),
    pollMs: parseDuration(object.spec.polling.interval),
  });
  const isRemoved = await removeKeys(context, state.processed, stored?.metadata?.resourceVersion);
  countPullRequests(context, state, isRemoved);
  return state;
}

function changeWork({ object, deps }: SyncContext, { server, ...tools }: RepositoryTools): ChangeWork {
  const { repo, auth } = object.spec.git;
  return {
    ...tools,
    forge: (kind) =>
      forgeOf({
        ...server,
        url: parseGitUrl(repo, { allowPlainHttp: deps.config.allowPlainHttp }),
        kind,
        apiBaseUrl: auth?.githubApp?.apiBaseURL,
      }),
  };
}

/**
 * removeKeys removes what was processed from the ConfigMap, and reports whether it did. Agents own the keys, so they cannot be removed by
 * an apply. If an agent has sent something meanwhile, its event causes another run.
 */
async function removeKeys(
  { live, key }: SyncContext,
  keys: readonly string[],
  resourceVersion: string | undefined,
): Promise<boolean> {
  if (keys.length === 0) return false;
  const body = { metadata: { resourceVersion }, data: Object.fromEntries(keys.map((each) => [each, null])) };
  const name = objectNames(key.name).changes;
  try {
    await live.patch(ConfigMap, { namespace: key.namespace, name }, { type: 'merge', body });
    return true;
  } catch (error) {
    if (!isConflict(error) && !isNotFound(error)) throw error;
    return false;
  }
}

/** A failure is counted when it begins. */
function countPullRequests(
  { object, deps }: SyncContext,
  { pullRequests, problem }: ChangesState,
  isRemoved: boolean,
): void {
  const isKnown = findCondition(object, 'BidirectionalReady')?.reason === problem?.reason;
  for (const result of pullRequests) {
    if (result === 'failed' ? !isKnown : isRemoved) deps.metrics.pullRequest(result);
  }
}
