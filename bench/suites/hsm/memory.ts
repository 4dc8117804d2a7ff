import { type Measure, measured } from '../../result.ts';
import { judgedMeasure } from '../../support/rounds.ts';
import { createUnrelatedPods } from '../../support/unrelated-pods.ts';
import { runReports } from './reports-run.ts';
import { type HsmScene, LABEL } from './scene.ts';

/** memory measures the operator's peak memory while all pods report, without and with pods that have nothing to do with it. */
export async function memory(scene: HsmScene): Promise<readonly Measure[]> {
  const { pods, unrelatedPods } = scene.plan;
  const alone = await peaks(scene);
  scene.log(`creating ${unrelatedPods} unrelated pods`);
  await createUnrelatedPods(scene.api, unrelatedPods);
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
