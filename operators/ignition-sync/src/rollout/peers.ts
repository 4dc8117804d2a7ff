import type { Member } from './member.ts';
import type { RolloutInput } from './rollout.ts';

/** PEER_TIMEOUT_MS is how long a backup waits for a peer that is not running. */
const PEER_TIMEOUT_MS = 120_000;

/** Peers holds which backups wait for which gateways. */
export interface Peers {
  /** The running peers of backups, by the pod of the backup. */
  readonly peerOf: ReadonlyMap<string, readonly Member[]>;
  /** Since when the peers of backups are not running, by the pod of the backup. */
  readonly missingSince: ReadonlyMap<string, string>;
  /** The backups that still wait for a peer that is not running, and its name. */
  readonly waiting: ReadonlyMap<string, string>;
  /** The backups that no longer wait. */
  readonly unavailable: readonly { readonly gateway: string; readonly peer: string }[];
  readonly lookAgainMs: number | undefined;
}

/** observePeers finds the peer of each backup. Its absence is noted in the plan, so that a restart does not extend it. */
export function observePeers(members: readonly Member[], { now }: RolloutInput): Peers {
  const peerOf = new Map<string, readonly Member[]>();
  const missingSince = new Map<string, string>();
  const waiting = new Map<string, string>();
  const unavailable: { gateway: string; peer: string }[] = [];
  let lookAgainMs: number | undefined;
  for (const { role, peer, name, podName, isApart, previous } of members) {
    // A role in the spec applies to all gateways, and so to the peer itself.
    if (role !== 'backup' || peer === undefined || peer === name || isApart) continue;
    const found = members.filter((member) => member.name === peer && member.pod.phase === 'Running');
    if (found.length > 0) {
      peerOf.set(podName, found);
      continue;
    }
    const since = Math.min(now, timeOf(previous?.peerMissingSince) ?? now);
    missingSince.set(podName, new Date(since).toISOString());
    const leftMs = since + PEER_TIMEOUT_MS - now;
    if (leftMs <= 0) {
      unavailable.push({ gateway: name, peer });
      continue;
    }
    waiting.set(podName, peer);
    lookAgainMs = Math.min(lookAgainMs ?? leftMs, leftMs);
  }
  return { peerOf, missingSince, waiting, unavailable, lookAgainMs };
}

function timeOf(text: string | undefined): number | undefined {
  const time = Date.parse(text ?? '');
  return Number.isNaN(time) ? undefined : time;
}
