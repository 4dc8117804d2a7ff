import { ConfigMap, keyString, Pod } from '@bowline/kubernetes';
import { type ReconcileResult, terminal } from '@bowline/runtime';
import { AUTHOR_NOT_REVIEWED } from '@bowline/runtime/access';
import { isConflict, isNotFound } from '@bowline/runtime/client';
import { IgnitionSync } from '../api/ignition-sync.ts';
import { CR_ANNOTATIONS, objectNames, POD_ANNOTATIONS } from '../api/names.ts';
import { authors } from '../authorization/author-review.ts';
import type { ChangesState } from '../bidirectional/controller/follow-changes.ts';
import { type Discovery, discoverGateways } from '../discovery/discover-gateways.ts';
import { type CollectedReports, collectReports } from '../gateways/collect-reports.ts';
import type { AgentProfile } from '../protocol/agent-profile.ts';
import type { SyncMetadata } from '../protocol/metadata.ts';
import { planRollout } from '../rollout/plan-rollout.ts';
import type { Rollout } from '../rollout/rollout.ts';
import { conclude } from './conclude.ts';
import { deliverToken } from './deliver-token.ts';
import { followSource, pausedSource } from './follow-source.ts';
import { pauseReason } from './pause.ts';
import { profilesOf } from './profiles.ts';
import { provideAgentAccess, provideExchange, provideStorage } from './provide-objects.ts';
import { draftMetadata, type PublishResult, publishMetadata } from './publish-metadata.ts';
import type { SourceState } from './source-state.ts';
import { storedMetadata } from './stored-metadata.ts';
import { syncChanges } from './sync-changes.ts';
import type { SyncContext } from './sync-controller.ts';

/**
 * reconcile resolves the ref of an IgnitionSync to a commit, tells the agents which gateway may sync it, and reports what they
 * have done. It never waits for git, and while a commit cannot be resolved everything continues with the last one.
 */
export async function reconcile(context: SyncContext): Promise<ReconcileResult> {
  refuseUnreviewed(context);
  const paused = await pauseReason(context);
  const discovery = discover(context);
  const profiles = profilesOf(context, discovery);
  const stored = storedMetadata(context);
  const state =
    paused === undefined
      ? await followSource(context, { overrideRefs: overridesOf(discovery), stored })
      : pausedSource(context, stored);
  const storage = await provideStorage(context, discovery);
  await provideAgentAccess(context, discovery);
  await provideExchange(context);
  const token = await deliverToken(context, state.access?.source);
  const collected = await collect(context, discovery);
  const changes = await syncChanges(context, state, discovery);
  state.access?.run.complete();
  const { metadata, rollout, published } = await rollOut(context, {
    state,
    stored,
    profiles,
    discovery,
    collected,
    changes,
    isPaused: paused !== undefined,
  });
  return conclude(context, {
    paused,
    state,
    storage,
    discovery,
    collected,
    changes,
    metadata,
    rollout,
    published,
    token,
  });
}

/** refuseUnreviewed ends the run unless a webhook ensures that authors may read the Secrets that they name. */
function refuseUnreviewed(context: SyncContext): void {
  const { namespace = '' } = context.key;
  if (authors.isTrustedIn(context, namespace)) return;
  context.deps.sources.release(keyString(context.key));
  throw terminal(AUTHOR_NOT_REVIEWED, authors.unreviewed(namespace));
}

function discover({ list, key }: SyncContext): Discovery {
  const { namespace, name } = key;
  const onlyOne = list(IgnitionSync, { namespace }).length === 1;
  return discoverGateways(list(Pod, { namespace }), { name, onlyOne });
}

function overridesOf({ gateways, starting }: Discovery): readonly string[] {
  const refs = [...gateways, ...starting].flatMap(({ pod }) => pod.annotations[POD_ANNOTATIONS.refOverride] || []);
  return [...new Set(refs)].filter((ref) => !/\s/.test(ref)).sort();
}

/** collect reads the reports of agents, and removes those of pods that no longer exist. */
async function collect({ get, key, live }: SyncContext, discovery: Discovery): Promise<CollectedReports> {
  const name = objectNames(key.name).status;
  const stored = get(ConfigMap, { namespace: key.namespace, name });
  const collected = collectReports(stored?.data, discovery);
  if (collected.stale.length === 0) return collected;
  // Agents own the keys, so they cannot be removed by an apply. If an agent has reported meanwhile, its event causes another run.
  const body = {
    metadata: { resourceVersion: stored?.metadata?.resourceVersion },
    data: Object.fromEntries(collected.stale.map((each) => [each, null])),
  };
  try {
    await live.patch(ConfigMap, { namespace: key.namespace, name }, { type: 'merge', body });
  } catch (error) {
    if (!isConflict(error) && !isNotFound(error)) throw error;
  }
  return collected;
}

interface RollOutInput {
  readonly state: SourceState;
  readonly stored: SyncMetadata | undefined;
  readonly profiles: Readonly<Record<string, AgentProfile>>;
  readonly discovery: Discovery;
  readonly collected: CollectedReports;
  readonly changes: ChangesState | undefined;
  readonly isPaused: boolean;
}

/** RolledOut is what agents read after a run. */
interface RolledOut {
  /** Undefined if there is nothing to read. */
  readonly metadata: SyncMetadata | undefined;
  readonly rollout: Rollout | undefined;
  readonly published: PublishResult | undefined;
}

/** rollOut plans which gateway may sync which commit, and tells the agents. */
async function rollOut(context: SyncContext, input: RollOutInput): Promise<RolledOut> {
  const { object, clock } = context;
  const { state, stored, profiles, discovery, collected, changes, isPaused } = input;
  const draft = draftMetadata(context, { state, stored, profiles, paused: isPaused });
  // A sync could overwrite files that are in conflict, until these are known.
  const isBlocked = changes?.isHeldKnown === false;
  if (!draft || isBlocked) return { metadata: stored, rollout: undefined, published: undefined };
  const rollout = isPaused
    ? undefined
    : planRollout({
        now: clock.now(),
        metadata: draft,
        discovery,
        reports: collected.reports,
        deployment: object.spec.deployment,
        ignition: object.spec.ignition,
        overrides: state.overrides,
        approval: approvalOf(object),
        previous: stored?.plan ?? {},
        held: changes?.held ?? heldIn(stored),
        lastSynced: object.status?.rolledOut,
      });
  const metadata: SyncMetadata = { ...draft, plan: rollout?.plan ?? stored?.plan ?? {} };
  const published = await publishMetadata(context, metadata, stored);
  return { metadata: published.outcome === 'published' ? metadata : stored, rollout, published };
}

/** While the repository is not accessed, the last known conflicts hold. */
function heldIn(stored: SyncMetadata | undefined): ReadonlyMap<string, readonly string[]> {
  return new Map(Object.entries(stored?.plan ?? {}).flatMap(([pod, { held }]) => (held ? [[pod, held] as const] : [])));
}

function approvalOf({ metadata }: IgnitionSync): { readonly commit: string; readonly by: string } | undefined {
  const commit = metadata?.annotations?.[CR_ANNOTATIONS.approvedCommit];
  const by = metadata?.annotations?.[CR_ANNOTATIONS.approvedBy];
  return commit && by ? { commit, by } : undefined;
}
