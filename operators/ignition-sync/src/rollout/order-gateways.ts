import type { AgentProfile } from '../protocol/agent-profile.ts';
import type { Member } from './member.ts';
import type { Peers } from './peers.ts';
import { breakCycles, type Prerequisite, type Prerequisites } from './prerequisites.ts';
import type { RolloutInput } from './rollout.ts';
import type { Stage } from './stages.ts';

/** OrderedGateways holds which gateways each one waits for, and which settings have no effect. */
export interface OrderedGateways {
  readonly prerequisites: Prerequisites;
  readonly notes: readonly string[];
}

/** prerequisitesOf returns the running gateways of the same stage that each gateway waits for. */
export function prerequisitesOf(
  stages: readonly Stage<Member>[],
  { deployment, metadata, discovery }: RolloutInput,
  { peerOf }: Peers,
): OrderedGateways {
  const names = new Set(discovery.gateways.map(({ name }) => name));
  const unknown = (deployment?.syncOrder ?? []).filter((name) => !names.has(name));
  const notes = unknown.map((name) => `deployment.syncOrder: gateway ${name} is not running or does not exist`);
  const prerequisites = new Map<string, readonly Prerequisite[]>();
  for (const { members } of stages) {
    const ordered = members.filter(({ isApart }) => !isApart);
    const running = ordered.filter(({ pod }) => pod.phase === 'Running');
    const chain = chainOf(running, deployment?.syncOrder ?? []);
    for (const member of ordered) {
      const peers = (peerOf.get(member.podName) ?? []).filter((peer) => running.includes(peer));
      const needed = neededProfiles(member.base.profile, metadata.profiles);
      const dependencies = needed.size === 0 ? [] : running.filter(({ base }) => needed.has(base.profile ?? ''));
      prerequisites.set(member.podName, [
        ...peers.map(({ podName }) => ({ kind: 'peer', podName }) as const),
        ...dependencies.map(({ podName }) => ({ kind: 'dependency', podName }) as const),
        ...before(member, chain).map(({ podName }) => ({ kind: 'order', podName }) as const),
      ]);
    }
  }
  const { prerequisites: acyclic, dropped } = breakCycles(prerequisites);
  const nameOf = new Map(stages.flatMap(({ members }) => members.map(({ podName, name }) => [podName, name])));
  for (const { of, podName } of dropped) {
    const [first, second] = [nameOf.get(podName), nameOf.get(of)];
    notes.push(`gateways ${first} and ${second} wait for each other by syncOrder, profiles or redundancy; correct one`);
  }
  return { prerequisites: acyclic, notes: [...new Set(notes)] };
}

/** chainOf returns the named gateways in their order. */
function chainOf(members: readonly Member[], syncOrder: readonly string[]): Member[] {
  return syncOrder.flatMap((name) => members.filter((member) => member.name === name));
}

/** before returns the gateways of the chain before a member: all of them, if it is not in the chain itself. */
function before(member: Member, chain: readonly Member[]): readonly Member[] {
  const index = chain.indexOf(member);
  return index < 0 ? chain : chain.slice(0, index);
}

/** neededProfiles returns the other profiles that a profile depends on, also indirectly. */
function neededProfiles(
  profile: string | undefined,
  profiles: Readonly<Record<string, AgentProfile>>,
): ReadonlySet<string> {
  const needed = new Set<string>();
  const left = profile === undefined ? [] : [profile];
  for (let name = left.pop(); name !== undefined; name = left.pop()) {
    for (const { profileName } of profiles[name]?.spec?.dependsOn ?? []) {
      if (needed.has(profileName) || profileName === profile) continue;
      needed.add(profileName);
      left.push(profileName);
    }
  }
  return needed;
}
