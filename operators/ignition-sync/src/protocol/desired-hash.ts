import { createHash } from 'node:crypto';
import { canonicalJson } from '@bowline/machinery';
import type { SyncMetadata } from './metadata.ts';
import type { GatewayPlan } from './rollout-plan.ts';

/**
 * desiredHash identifies the state that a gateway should have: its commit, settings, profile and the last request. The
 * agent reports it as `appliedHash`, so that the controller knows which state a report is about. Undefined if the
 * gateway is not part of the plan, or must wait.
 */
export function desiredHash(metadata: SyncMetadata, podName: string): string | undefined {
  const plan = metadata.plan[podName];
  if (plan === undefined) return undefined;
  const hash = stateHash(metadata, plan);
  return plan.released === undefined || plan.released === hash ? hash : undefined;
}

/** stateHash identifies the state that a plan leads to, whether or not the gateway must wait. Undefined: it has no commit. */
export function stateHash(metadata: Omit<SyncMetadata, 'plan'>, plan: GatewayPlan): string | undefined {
  const { commit, ref, profile, healthCheckUrl, held } = plan;
  if (commit === undefined) return undefined;
  const { settings, excludePatterns, trigger, rollback, profiles } = metadata;
  const desired = {
    commit,
    ref,
    settings,
    excludePatterns,
    trigger,
    rollback,
    healthCheckUrl,
    held,
    profile: profile === undefined ? undefined : profiles[profile],
  };
  return createHash('sha256').update(canonicalJson(desired)).digest('hex').slice(0, 32);
}

/** CommitAt is a commit and its ref, in place of those of a plan. */
type CommitAt = Pick<GatewayPlan, 'commit' | 'ref'>;

/**
 * stateHashes returns `stateHash` for one metadata, optionally at another commit than that of the plan. Most gateways have the
 * same state, so that it is computed once.
 */
export function stateHashes(
  metadata: Omit<SyncMetadata, 'plan'>,
): (plan: GatewayPlan, at?: CommitAt) => string | undefined {
  const known = new Map<string, string | undefined>();
  return (plan, at = plan) => {
    const { profile, healthCheckUrl, held } = plan;
    const { commit, ref } = at;
    // None of these contains a line break, except for paths.
    const paths = held === undefined ? '' : JSON.stringify(held);
    const key = `${commit}\n${ref}\n${profile}\n${healthCheckUrl}\n${paths}`;
    const found = known.get(key);
    if (found !== undefined || known.has(key)) return found;
    const hash = stateHash(metadata, { ...plan, commit, ref });
    known.set(key, hash);
    return hash;
  };
}
