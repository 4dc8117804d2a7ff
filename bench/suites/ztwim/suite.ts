import type { BenchSuite } from '../../suite.ts';
import { Api } from '../../support/api.ts';
import { defineSuite } from '../../support/define-suite.ts';
import { openScene } from '../../support/scene.ts';
import { cascade } from './cascade.ts';
import { deletion } from './deletion.ts';
import { install } from './install.ts';
import { memory } from './memory.ts';
import { noOp } from './no-op.ts';
import { fullPlan, type Plan, quickPlan } from './plan.ts';
import { prepare } from './prepare.ts';
import { restart } from './restart.ts';
import { review } from './review.ts';
import { inFlight, type ZtwimScene } from './scene.ts';
import { start } from './start.ts';
import { subjects } from './subjects.ts';

/** suite measures the operator ZTWIM on a real control plane. */
export const suite: BenchSuite = defineSuite<ZtwimScene, Plan>({
  name: 'ztwim',
  title: 'Zero Trust Workload Identity Manager',
  plans: { full: fullPlan, quick: quickPlan },
  steps: [
    { name: 'prepare', run: prepare },
    { name: 'install', needs: ['prepare'], run: install },
    { name: 'cascade', needs: ['prepare'], run: cascade },
    { name: 'no-op', needs: ['prepare'], run: noOp },
    { name: 'restart', needs: ['prepare'], run: restart },
    { name: 'deletion', needs: ['prepare'], run: deletion },
    { name: 'review', needs: ['prepare'], run: review },
    // After everything that measures time: the objects of users stay.
    { name: 'memory', needs: ['prepare'], run: memory },
    { name: 'start', run: start },
  ],
  async open(plan, log) {
    // Without controllers of workloads nothing but the operator writes; `deletion` starts a second control plane with pods.
    const scene = await openScene(subjects, log, { workloads: false });
    const api = new Api(scene.connection);
    return {
      ...scene,
      plan,
      api,
      known: {},
      async [Symbol.asyncDispose]() {
        await api[Symbol.asyncDispose]();
        await scene[Symbol.asyncDispose]();
      },
    };
  },
  peers: () => ({}),
  notes,
});

function notes({ known }: ZtwimScene): readonly string[] {
  const { children = [], cascade: writes = [] } = known.writes ?? {};
  const bytes = children.reduce((sum, { body }) => sum + body.length, 0);
  return [
    'Ratios hold, absolute figures depend on the machine: API server, etcd, harness and subject share its cores.',
    'The operator runs in its own fresh process, with only the permissions that it declares, its webhooks and leader election; values are medians.',
    'Neither a scheduler nor controllers of workloads run, so that only the operator writes; the deletion with pods is measured on a second control plane, with both and with a simulated node. Requests are counted in the audit log.',
    `An install counts from the first request of the harness, which creates the five objects one after the other through the webhooks, until a bare watch of the harness has observed the last of ${children.length} objects. The bare loop creates the same objects, ${bytes.toLocaleString('en-US')} bytes of recorded bodies, with ${inFlight} in flight, while the five objects exist and no operator runs; its time counts from its first request to its last response.`,
    `A change of the cluster name counts from the request until a bare watch of the harness has observed the last file and template. The bare program repeats the ${writes.length} writes of the operator one after the other, without validating templates first and without webhooks; statuses and events follow later in both.`,
    'Peak memory is that of a process that installs everything, changes the cluster name and deletes everything.',
    'An operand is reviewed by two webhooks, which are called alternately with the bare server, one review at a time.',
  ];
}
