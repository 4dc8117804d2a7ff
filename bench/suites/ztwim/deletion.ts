import { ZeroTrustWorkloadIdentityManager } from '@bowline/ztwim';
import { type Measure, measured, type Target, type Unit } from '../../result.ts';
import { percentile } from '../../statistics.ts';
import { Api } from '../../support/api.ts';
import { judgedMeasure } from '../../support/rounds.ts';
import { openScene } from '../../support/scene.ts';
import { CONFIG_PATH, countOwned, OPERANDS } from './five-objects.ts';
import { install } from './installed.ts';
import { type ObjectWatch, untilEmpty, watchChildren, watchFive } from './object-watch.ts';
import { prepare } from './prepare.ts';
import { LABEL, type ZtwimScene } from './scene.ts';
import { runZtwim } from './ztwim-run.ts';

interface Deletion {
  /** Until the ZeroTrustWorkloadIdentityManager is gone. */
  readonly ms: number;
  /** The longest cleanup of an operand, from its deletion until it is gone. */
  readonly operandMs: number;
  /** The objects of operands that exist when the ZeroTrustWorkloadIdentityManager is gone. */
  readonly orphans: number;
  /** The operands that were owned before. */
  readonly owned: number;
}

/** deletion measures the deletion of everything: the operator's own part, without any pod, and with pods on a node. */
export async function deletion(scene: ZtwimScene): Promise<readonly Measure[]> {
  const { deletions, podDeletions } = scene.plan;
  scene.log(`${deletions} deletions without pods`);
  const own = await deleteOften(scene, deletions, async () => {});
  scene.log(`${podDeletions} deletions with pods, on a second control plane`);
  await using withPods = await openWithPods(scene);
  await prepare(withPods);
  const whole = await deleteOften(withPods, podDeletions, untilReady);
  const all = [...own, ...whole];
  const title = 'deletion of the ZeroTrustWorkloadIdentityManager';
  const value = (values: readonly number[]) => [measured('bowline', LABEL, values)];
  const row = (
    id: string,
    what: string,
    unit: Unit,
    values: readonly number[],
    target: Pick<Target, 'bound' | 'limit'>,
  ) => judgedMeasure({ id, title: what, unit, subjects: value(values) }, [{ id, subject: 'bowline', ...target }]);
  const times = (deletions: readonly Deletion[]): readonly number[] => deletions.map(({ ms }) => ms);
  const atMost = (limit: number) => ({ bound: 'at most', limit }) as const;
  return [
    row('deletion', `${title}, with pods`, 'ms', times(whole), atMost(15_000)),
    row('deletion-own-p99', `${title}, without pods, p99`, 'ms', [percentile(times(own), 0.99)], atMost(2_000)),
    judgedMeasure({
      id: 'deletion-own-p50',
      title: `${title}, without pods, p50`,
      unit: 'ms',
      subjects: value([percentile(times(own), 0.5)]),
    }),
    row(
      'cleanup',
      'cleanup of one operand, slowest',
      'ms',
      [Math.max(...all.map(({ operandMs }) => operandMs))],
      atMost(30_000),
    ),
    row('full-deletion', 'full deletion, slowest', 'ms', [Math.max(...times(all))], atMost(120_000)),
    row(
      'orphans',
      'objects left after the deletion',
      'objects',
      [Math.max(...all.map(({ orphans }) => orphans))],
      atMost(0),
    ),
    row('owned', 'operands owned', '%', [Math.min(...all.map(({ owned }) => (owned * 100) / OPERANDS.length))], {
      bound: 'at least',
      limit: 100,
    }),
  ];
}

/** deleteOften installs and deletes everything. */
async function deleteOften(
  scene: ZtwimScene,
  count: number,
  untilInstalled: (five: ObjectWatch) => Promise<void>,
): Promise<readonly Deletion[]> {
  await using operator = await runZtwim(scene);
  using five = await watchFive(scene);
  using children = await watchChildren(scene);
  const deletions: Deletion[] = [];
  for (let each = 0; each < count; each += 1) {
    await install(scene, operator);
    await untilInstalled(five);
    await operator.settled();
    const owned = await countOwned(scene.api);
    five.forget();
    const start = performance.now();
    await scene.api.ok('DELETE', CONFIG_PATH);
    const end = await untilEmpty(five);
    const orphans = children.objects.size;
    deletions.push({ ms: end - start, operandMs: longestCleanup(five), orphans, owned });
    await untilEmpty(children);
    await operator.settled();
  }
  return deletions;
}

/** longestCleanup returns the longest time between the deletion of an operand and its end, as observed. */
function longestCleanup({ events }: ObjectWatch): number {
  const longest = OPERANDS.map(({ kind }) => {
    const ofKind = events.filter(({ key }) => key.startsWith(`${kind}/`));
    const deletedAt = ofKind.find(({ object }) => object.metadata.deletionTimestamp !== undefined)?.arrivedMs;
    const goneAt = ofKind.find(({ type }) => type === 'DELETED')?.arrivedMs;
    if (deletedAt === undefined || goneAt === undefined)
      throw new Error(`the deletion of the ${kind} was not observed`);
    return goneAt - deletedAt;
  });
  return Math.max(...longest);
}

/** untilReady waits until all pods run. */
async function untilReady(five: ObjectWatch): Promise<void> {
  interface WithConditions {
    readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
  }
  const key = `${ZeroTrustWorkloadIdentityManager.kind}/cluster`;
  const isReady = (): boolean => {
    const { status } = (five.objects.get(key) ?? {}) as WithConditions;
    return status?.conditions?.some((each) => each.type === 'Ready' && each.status === 'True') ?? false;
  };
  await five.until(isReady, 'all operands to be ready');
}

/** openWithPods starts a control plane with controllers of workloads and a node on which pods become ready. */
async function openWithPods(scene: ZtwimScene): Promise<ZtwimScene> {
  const second = await openScene([], scene.log, { workloads: true, nodes: 1 });
  const api = new Api(second.connection);
  return {
    ...second,
    command: scene.command,
    plan: scene.plan,
    api,
    known: {},
    async [Symbol.asyncDispose]() {
      await api[Symbol.asyncDispose]();
      await second[Symbol.asyncDispose]();
    },
  };
}
