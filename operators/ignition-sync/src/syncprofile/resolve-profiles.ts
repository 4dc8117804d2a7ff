import type { AgentProfile } from '../protocol/agent-profile.ts';
import { dependenciesOf, judgeProfile, type ProfileSpec } from './judge-profile.ts';

/** The schema of the metadata limits both. */
const MAX_PROFILES = 64;
const MAX_PROBLEM_LENGTH = 512;

/**
 * resolveProfiles returns the SyncProfiles for the metadata of agents: those that pods name, and those that they depend on,
 * which decide about the order. A profile that does not exist is left out; its agents report ProfileNotFound. A profile that is not
 * accepted has a problem instead of a spec.
 */
export function resolveProfiles(
  names: Iterable<string>,
  profiles: ReadonlyMap<string, ProfileSpec>,
): Record<string, AgentProfile> {
  const resolved = new Map<string, AgentProfile>();
  // A set visits what is added during the iteration: first all that pods name, then the others.
  const wanted = new Set([...names].sort());
  for (const name of wanted) {
    const spec = profiles.get(name);
    if (spec === undefined || resolved.size === MAX_PROFILES) continue;
    const { isAccepted, message } = judgeProfile(name, profiles);
    resolved.set(name, isAccepted ? { spec } : { problem: message.slice(0, MAX_PROBLEM_LENGTH) });
    if (isAccepted) for (const needed of dependenciesOf(name, profiles)) wanted.add(needed);
  }
  return Object.fromEntries(resolved);
}
