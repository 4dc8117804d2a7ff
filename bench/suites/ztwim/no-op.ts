import { type Measure, measured } from '../../result.ts';
import { inParallel } from '../../support/api.ts';
import { judgedMeasure } from '../../support/rounds.ts';
import { patchConfig } from './five-objects.ts';
import { withInstalled } from './installed.ts';
import { requestsSince } from './operator-requests.ts';
import { LABEL, type ZtwimScene } from './scene.ts';
import { runZtwim } from './ztwim-run.ts';

const updatesInFlight = 8;

/** noOp measures what updates of an annotation cost that no rule reads. */
export async function noOp(scene: ZtwimScene): Promise<readonly Measure[]> {
  const { api, plan, log } = scene;
  const taken = { requests: 0, cpuMs: 0 };
  log(`${plan.updates} updates of an annotation`);
  await withInstalled(scene, async () => {
    await using operator = await runZtwim(scene);
    await operator.settled();
    const since = Date.now();
    const cpuBefore = operator.cpuMs();
    await inParallel(Array.from({ length: plan.updates }, String), updatesInFlight, (update) =>
      patchConfig(api, { metadata: { annotations: { 'bench.bowline.dev/note': update } } }),
    );
    await operator.settled();
    taken.cpuMs = operator.cpuMs() - cpuBefore;
    const requests = (await requestsSince(scene, since)).filter(({ verb }) => verb !== 'watch');
    for (const { text } of requests.slice(0, 5)) log(`an unexpected request: ${text}`);
    taken.requests = requests.length;
  });
  const title = `${plan.updates.toLocaleString('en-US')} updates of an annotation that no rule reads`;
  return [
    judgedMeasure(
      {
        id: 'no-op',
        title: `${title}: requests`,
        unit: 'requests',
        subjects: [measured('bowline', LABEL, [taken.requests])],
      },
      [{ id: 'no-op', subject: 'bowline', bound: 'at most', limit: 0 }],
    ),
    judgedMeasure({
      id: 'no-op-cpu',
      title: `${title}: processor time per update`,
      unit: 'µs',
      subjects: [measured('bowline', LABEL, [(taken.cpuMs * 1_000) / plan.updates])],
    }),
  ];
}
