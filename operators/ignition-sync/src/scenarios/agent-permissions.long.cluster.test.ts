import { ConfigMap, Pod, type PolicyRule, type Role } from '@bowline/kubernetes';
import { Event } from '@bowline/kubernetes/events-v1';
import { expect, it } from 'vitest';
import { permissionsIn, without } from '../../../../test/proofs/rbac/permissions.ts';
import { agentRules } from '../agent-access/agent-role.ts';
import { objectNames } from '../api/names.ts';
import { AgentClock, advancing } from './agent-channel.test-support.ts';
import { type AgentRig, agentRig, CR, FIRST, GATEWAY, type Publication } from './agent-rig.test-support.ts';

const names = objectNames(CR);
const VIEW = 'projects/overview/view/view.json';
const manifest: Role & { readonly kind: 'Role' } = { kind: 'Role', metadata: { name: 'agent' }, rules: agentRules(CR) };
const permissions = permissionsIn([manifest]);

/** rulesWithout returns the rules of agents without one permission. */
function rulesWithout(index: number): readonly PolicyRule[] {
  const permission = permissions[index];
  if (!permission) throw new RangeError(`there is no permission ${index}`);
  const [left] = without([manifest], permission);
  return left && 'rules' in left ? (left.rules ?? []) : [];
}

/** Exchange is what an agent has done with the controller. */
interface Exchange {
  readonly refused: readonly string[];
  /** The parts of the protocol that have not happened. */
  readonly missing: readonly string[];
}

/** Plant is a gateway whose agents come one after the other, each in a pod of its own. */
interface Plant {
  readonly rig: AgentRig;
  readonly commits: readonly [string, string];
}

async function startPlant(): Promise<Plant> {
  const rig = await agentRig();
  const first = await rig.commit(FIRST);
  const second = await rig.commit({ [`services/site/${VIEW}`]: '{"version": 2}' });
  await rig.gateway.start();
  return { rig, commits: [first, second] };
}

const BIDIRECTIONAL = { enabled: true, watchPaths: ['projects'], debounce: '5s' } as const;

/**
 * exchange runs an agent until it has done everything that it does with the cluster, or something was refused: it follows the
 * metadata ConfigMap, reports, sends an event twice, and sends changes.
 */
async function exchange({ rig, commits }: Plant, rules: readonly PolicyRule[], pod: string): Promise<Exchange> {
  const { c } = rig;
  const { namespace } = c;
  const since = Date.now();
  const clock = new AgentClock();
  const publish = async (commit: string, trigger: string): Promise<void> => {
    const plan = { [pod]: { name: GATEWAY, key: pod, commit, ref: 'main' } };
    const changes: Publication = {
      spec: { bidirectional: BIDIRECTIONAL },
      metadata: { plan, trigger: `${pod} ${trigger}` },
    };
    await rig.publish(commit, changes);
  };
  const refused = async (): Promise<readonly string[]> => {
    const user = `system:serviceaccount:${namespace}:${account}`;
    const forbidden = (await c.controlPlane.audit(since)).filter(
      ({ user: { username }, responseStatus }) => username === user && responseStatus?.code === 403,
    );
    return [...new Set(forbidden.map(({ verb, objectRef }) => `${verb} ${objectRef?.resource}`))];
  };
  const [first, second] = commits;
  await publish(first, 'start');
  await using agent = await rig.start({ pod, rules, clock, withoutStreaming: true });
  const account = (await c.admin.get(Pod, { namespace, name: pod })).spec?.serviceAccountName;
  const version = async (): Promise<string | undefined> => (await rig.files())[VIEW];
  const dataOf = async (name: string) => (await c.admin.get(ConfigMap, { namespace, name })).data?.[pod];
  const wasSent = async (times: number): Promise<boolean> => {
    const { items } = await c.admin.list(Event, { namespace });
    return items.some(
      ({ reportingInstance, note, series }) =>
        reportingInstance === pod && note?.includes(second.slice(0, 12)) && (series?.count ?? 1) === times,
    );
  };
  const parts: readonly [string, () => Promise<unknown>, () => Promise<boolean>][] = [
    ['the first commit', async () => undefined, async () => (await version()) === '{"version": 1}'],
    ['the second commit', () => publish(second, 'start'), async () => (await version()) === '{"version": 2}'],
    ['a report', async () => undefined, async () => (await dataOf(names.status))?.includes('Synced') ?? false],
    ['an event', async () => undefined, () => wasSent(1)],
    ['the same event', () => publish(second, 'again'), () => wasSent(2)],
    ['changes', () => rig.place(VIEW, `{"of": "${pod}"}`), async () => (await dataOf(names.changes)) !== undefined],
  ];
  const missing: string[] = [];
  for (const [name, act, isDone] of parts) {
    await act();
    const isOver = async (): Promise<boolean> => (await isDone()) || (await refused()).length > 0;
    await advancing(clock, expect.poll(isOver, { timeout: 60_000, interval: 100, message: name }).toBe(true), 500);
    if (!(await isDone())) missing.push(name);
  }
  await agent.stop();
  const processed = { data: { [pod]: null } };
  await c.admin.patch(ConfigMap, { namespace, name: names.changes }, { type: 'merge', body: processed });
  return { refused: await refused(), missing };
}

it('lets agents follow what they are told, report, and send events and changes', async () => {
  expect(await exchange(await startPlant(), agentRules(CR), 'all')).toEqual({ refused: [], missing: [] });
});

it('grants agents no permission that they can do without', async () => {
  const plant = await startPlant();
  const results: Record<string, Exchange> = {};
  // Listing reads every object that `get` does.
  const needed = [...permissions.entries()].filter(([, { isCovered }]) => !isCovered);
  for (const [index, { text }] of needed)
    results[text] = await exchange(plant, rulesWithout(index), `without-${index}`);
  expect(Object.keys(results)).toEqual([
    `list configmaps ${names.metadata} (Role)`,
    `watch configmaps ${names.metadata} (Role)`,
    `get configmaps ${names.status} (Role)`,
    `get configmaps ${names.changes} (Role)`,
    `patch configmaps ${names.status} (Role)`,
    `patch configmaps ${names.changes} (Role)`,
    'create events.events.k8s.io (Role)',
    'patch events.events.k8s.io (Role)',
  ]);
  for (const { refused, missing } of Object.values(results)) {
    expect(refused).toHaveLength(1);
    expect(missing).not.toEqual([]);
  }
}, 240_000);
