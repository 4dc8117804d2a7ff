import { type Measure, measured } from '../../result.ts';
import { countRequests, WRITES } from '../../support/request-counts.ts';
import { judgedMeasure } from '../../support/rounds.ts';
import { runJasm } from './jasm-run.ts';
import { sourcesOf } from './pods.ts';
import type { JasmScene } from './scene.ts';
import { withSecrets } from './with-secrets.ts';

const written = { resources: ['secrets', 'events', 'pods'], verbs: WRITES };

interface Restart {
  readonly ms: number;
  readonly calls: number;
  /** Calls that returned values. */
  readonly reads: number;
  readonly writes: number;
}

/** restart measures the start of the operator in a cluster in its desired state. */
export async function restart(scene: JasmScene): Promise<readonly Measure[]> {
  const { pods, restartRounds } = scene.plan;
  const samples: Restart[] = [];
  await withSecrets(scene, async (operator) => {
    await operator[Symbol.asyncDispose]();
    for (let round = 0; round < restartRounds; round += 1) {
      scene.log(`restart with ${pods} Secrets, round ${round + 1} of ${restartRounds}`);
      samples.push(await restartOnce(scene));
    }
  });
  const measure = (
    id: string,
    title: string,
    unit: Measure['unit'],
    value: (restart: Restart) => number,
    limit?: number,
  ) =>
    judgedMeasure(
      { id: `restart-${id}`, title, unit, subjects: [measured('bowline', 'Bowline jasm', samples.map(value))] },
      limit === undefined ? [] : [{ id: `restart-${id}`, subject: 'bowline', bound: 'at most', limit }],
    );
  const title = `restart with ${pods.toLocaleString('en-US')} Secrets`;
  return [
    measure('time', `${title}: until it is idle`, 'ms', ({ ms }) => ms),
    measure('calls', `${title}: calls to the store`, 'requests', ({ calls }) => calls, sourcesOf(pods)),
    measure('reads', `${title}: values read`, 'requests', ({ reads }) => reads, 0),
    measure('writes', `${title}: writes to the cluster`, 'requests', ({ writes }) => writes, 0),
  ];
}

async function restartOnce(scene: JasmScene): Promise<Restart> {
  const { aws, api, plan } = scene;
  const callsBefore = aws.calls.length;
  const writesBefore = await countRequests(api, written);
  await using operator = await runJasm(scene);
  const { ms } = await operator.settled(plan.pods, 0);
  const calls = aws.calls.slice(callsBefore);
  return {
    ms,
    calls: calls.length,
    reads: calls.filter(({ operation }) => operation !== 'DescribeSecret').length,
    writes: (await countRequests(api, written)) - writesBefore,
  };
}
