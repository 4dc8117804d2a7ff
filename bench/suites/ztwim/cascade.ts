import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ZeroTrustWorkloadIdentityManager } from '@bowline/ztwim';
import { type Measure, measured } from '../../result.ts';
import { percentile } from '../../statistics.ts';
import { judgedMeasure } from '../../support/rounds.ts';
import { startSubject, subjectArguments } from '../../support/run-subject.ts';
import { changeClusterName } from './cascade-run.ts';
import { clusterNameAt, collectionOf, OPERANDS, uidsOf } from './five-objects.ts';
import { withInstalled } from './installed.ts';
import { watchChildren } from './object-watch.ts';
import { isWrite, type OperatorRequest, requestsSince } from './operator-requests.ts';
import { asRepeated } from './recorded-writes.ts';
import { LABEL, type ZtwimScene } from './scene.ts';
import { createWebhooks, deleteWebhooks } from './webhooks.ts';
import { runZtwim } from './ztwim-run.ts';

/** A template is changed at most twice a second; further changes wait. */
const betweenMs = 600;
const timeoutMs = 60_000;

/** The writes of one change, by what they are for. */
const WRITES = [
  { id: 'files', label: 'ConfigMaps', limit: 3, matches: ofKinds('configmaps') },
  { id: 'templates', label: 'templates', limit: 2, matches: ofKinds('statefulsets', 'daemonsets', 'deployments') },
  { id: 'specs', label: 'specs of operands', limit: 2, matches: (each: OperatorRequest) => isSpec(each) },
  {
    id: 'history',
    label: 'former names, in an annotation',
    limit: 1,
    matches: (each: OperatorRequest) => isHistory(each),
  },
  { id: 'status', label: 'status', matches: ({ subresource }: OperatorRequest) => subresource === 'status' },
  { id: 'events', label: 'events', matches: ofKinds('events') },
] as const;

type WriteId = (typeof WRITES)[number]['id'] | 'others' | 'dryRuns';
type Counts = Readonly<Record<WriteId, number>>;

function ofKinds(...resources: readonly string[]): (request: OperatorRequest) => boolean {
  return ({ resource, subresource }) => subresource === undefined && resources.includes(resource);
}

function isOperand({ resource, subresource }: OperatorRequest): boolean {
  return subresource === undefined && OPERANDS.some(({ plural }) => plural === resource);
}

function isSpec(request: OperatorRequest): boolean {
  return isOperand(request) && request.text.includes('force=true');
}

function isHistory(request: OperatorRequest): boolean {
  return isOperand(request) && !isSpec(request);
}

/** cascade measures how soon a changed cluster name is in all files and templates. */
export async function cascade(scene: ZtwimScene): Promise<readonly Measure[]> {
  const { cascadeRounds: rounds, changes } = scene.plan;
  const ours: number[][] = [];
  const bare: number[][] = [];
  const counts: Counts[] = [];
  await withInstalled(scene, async () => {
    let next = 1;
    using children = await watchChildren(scene);
    const change = async (): Promise<number> => {
      await pause(betweenMs);
      const ms = await changeClusterName(scene, children, clusterNameAt(next));
      next += 1;
      return ms;
    };
    for (let round = 0; round < rounds; round += 1) {
      scene.log(`${changes} changes of the cluster name, round ${round + 1} of ${rounds}`);
      const { times, counts: perChange } = await followOften(scene, change);
      ours.push(times);
      counts.push(perChange);
      bare.push(await repeatOften(scene, change));
    }
  });
  return [...timesOf(ours, bare), ...writesOf(counts)];
}

/** followOften lets the operator follow the changes. */
async function followOften(
  scene: ZtwimScene,
  change: () => Promise<number>,
): Promise<{ readonly times: number[]; readonly counts: Counts }> {
  const { changes } = scene.plan;
  await using operator = await runZtwim(scene);
  await operator.settled();
  const since = Date.now();
  const times: number[] = [];
  for (let each = 0; each < changes; each += 1) times.push(await change());
  await operator.settled();
  const requests = await requestsSince(scene, since);
  const writes = requests.filter(isWrite);
  const byId = WRITES.map(({ id, matches }) => [id, writes.filter(matches).length / changes] as const);
  const others = writes.filter((write) => !WRITES.some(({ matches }) => matches(write)));
  for (const { text } of others) scene.log(`another write: ${text}`);
  const dryRuns = requests.filter(({ isDryRun }) => isDryRun).length;
  return {
    times,
    counts: { ...Object.fromEntries(byId), others: others.length / changes, dryRuns: dryRuns / changes } as Counts,
  };
}

/** repeatOften lets the bare program follow the changes. Without an operator, webhooks would refuse them. */
async function repeatOften(scene: ZtwimScene, change: () => Promise<number>): Promise<number[]> {
  const { api, known, plan } = scene;
  const uids = await uidsOf(api);
  const file = join(scene.folder, 'cascade.json');
  const writes = (known.writes?.cascade ?? []).map((write) => asRepeated(write, uids));
  writeFileSync(file, JSON.stringify({ writes, before: clusterNameAt(0), after: clusterNameAt(1) }));
  await deleteWebhooks(scene);
  await pause(betweenMs);
  const times: number[] = [];
  {
    await using bare = await startSubject({
      command: scene.command('bare-cascade'),
      args: subjectArguments(scene, { file, collection: collectionOf(ZeroTrustWorkloadIdentityManager) }),
    });
    for (let each = 0; each < plan.changes; each += 1) {
      times.push(await change());
      await bare.next(timeoutMs);
    }
  }
  await createWebhooks(scene);
  return times;
}

function timesOf(ours: readonly number[][], bare: readonly number[][]): readonly Measure[] {
  const title = 'cluster name changed until the last file and template has it';
  const all = ours.flat();
  const at = (fraction: number, rounds: readonly number[][]) => rounds.map((times) => percentile(times, fraction));
  return [
    judgedMeasure(
      {
        id: 'cascade-p50',
        title: `${title}, p50`,
        unit: 'ms',
        subjects: [
          measured('bowline', LABEL, at(0.5, ours)),
          measured('bare', 'bare program, the same writes in the same order', at(0.5, bare)),
        ],
      },
      [{ id: 'cascade-p50', subject: 'bowline', against: 'bare', bound: 'at most', limit: 2.5 }],
    ),
    judgedMeasure(
      {
        id: 'cascade-p99',
        title: `${title}, p99`,
        unit: 'ms',
        subjects: [measured('bowline', LABEL, [percentile(all, 0.99)])],
      },
      [{ id: 'cascade-p99', subject: 'bowline', bound: 'at most', limit: 1_000 }],
    ),
    judgedMeasure(
      {
        id: 'sync',
        title: 'configuration sync, slowest',
        unit: 'ms',
        subjects: [measured('bowline', LABEL, [Math.max(...all)])],
      },
      [{ id: 'sync', subject: 'bowline', bound: 'at most', limit: 5_000 }],
    ),
  ];
}

function writesOf(counts: readonly Counts[]): readonly Measure[] {
  const rows = [
    ...WRITES,
    { id: 'others', label: 'other writes', limit: 0 },
    { id: 'dryRuns', label: 'dry runs', limit: 2 },
  ] as const;
  return [
    judgedMeasure(
      {
        id: 'cascade-writes',
        title: 'requests per change of the cluster name',
        unit: 'requests',
        subjects: rows.map(({ id, label }) =>
          measured(
            id,
            label,
            counts.map((each) => each[id]),
          ),
        ),
      },
      rows.flatMap((row) =>
        'limit' in row
          ? [{ id: `cascade-${row.id}`, subject: row.id, bound: 'at most' as const, limit: row.limit }]
          : [],
      ),
    ),
  ];
}
