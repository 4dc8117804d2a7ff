import { type Measure, measured } from '../../result.ts';
import { inParallel } from '../../support/api.ts';
import { createNamespaces } from '../../support/config-maps.ts';
import { judgedMeasure } from '../../support/rounds.ts';
import { untilPodsCanBeCreated } from '../../support/until-pods-can-be-created.ts';
import { runReports } from './reports-run.ts';
import { type HsmScene, LABEL } from './scene.ts';

const namespaces: readonly string[] = Array.from({ length: 20 }, (_, index) => `bench-unrelated-${index}`);
const writesInFlight = 24;

/** memory measures the operator's peak memory while all pods report, without and with pods that have nothing to do with it. */
export async function memory(scene: HsmScene): Promise<readonly Measure[]> {
  const { pods, unrelatedPods } = scene.plan;
  const alone = await peaks(scene);
  await createUnrelatedPods(scene);
  const among = await peaks(scene);
  const many = unrelatedPods.toLocaleString('en-US');
  return [
    judgedMeasure(
      {
        id: 'memory',
        title: `peak memory with ${pods} pods and ${pods} devices`,
        unit: 'MB',
        subjects: [
          measured('bowline', LABEL, alone),
          measured('among', `${LABEL}, with ${many} unrelated pods`, among),
        ],
      },
      [
        { id: 'memory', subject: 'bowline', bound: 'at most', limit: 100 },
        { id: 'memory-unrelated', subject: 'among', against: 'bowline', bound: 'at most', limit: 1.1 },
      ],
    ),
  ];
}

async function peaks(scene: HsmScene): Promise<readonly number[]> {
  const { pods, memoryRounds: rounds } = scene.plan;
  const peaks: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    scene.log(`memory with ${pods} pods, round ${round + 1} of ${rounds}`);
    const { operator } = await runReports(scene, pods);
    peaks.push(operator?.peakMb ?? Number.NaN);
  }
  return peaks;
}

async function createUnrelatedPods({ api, plan, log }: HsmScene): Promise<void> {
  log(`creating ${plan.unrelatedPods} unrelated pods`);
  await createNamespaces(api, namespaces);
  await untilPodsCanBeCreated(api, namespaces);
  const indexes = Array.from({ length: plan.unrelatedPods }, (_, index) => index);
  await inParallel(indexes, writesInFlight, async (index) => {
    const name = `app-${String(index).padStart(5, '0')}`;
    await api.ok('POST', `/api/v1/namespaces/${namespaces[index % namespaces.length]}/pods`, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, labels: { 'app.kubernetes.io/name': name, 'app.kubernetes.io/component': 'server' } },
      spec: { containers: [{ name: 'main', image: 'example.test/main:1' }] },
    });
  });
}
