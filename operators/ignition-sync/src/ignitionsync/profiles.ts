import { POD_ANNOTATIONS } from '../api/names.ts';
import { SyncProfile } from '../api/sync-profile.ts';
import type { Discovery } from '../discovery/discover-gateways.ts';
import type { AgentProfile } from '../protocol/agent-profile.ts';
import { resolveProfiles } from '../syncprofile/resolve-profiles.ts';
import type { SyncContext } from './sync-controller.ts';

/** profilesOf returns the SyncProfiles that the pods of an IgnitionSync name, or why they must not be used. */
export function profilesOf(
  { list, key: { namespace } }: SyncContext,
  { gateways, starting }: Discovery,
): Readonly<Record<string, AgentProfile>> {
  const names = [...gateways, ...starting].flatMap(
    ({ pod }) => pod.annotations[POD_ANNOTATIONS.syncProfile]?.trim() || [],
  );
  const profiles = list(SyncProfile, { namespace }).map(({ metadata, spec }) => [metadata?.name ?? '', spec] as const);
  return resolveProfiles(new Set(names), new Map(profiles));
}
