import { setTimeout as pause } from 'node:timers/promises';
import { type Measure, measured, type Unit } from '../../result.ts';
import { countRequests } from '../../support/request-counts.ts';
import { judgedMeasure } from '../../support/rounds.ts';
import { ensurePods, FLEET_NAMESPACE } from './fleet.ts';
import { runHsm } from './hsm-run.ts';
import { operatorWrites } from './operator-writes.ts';
import { watchPool } from './pool-watch.ts';
import { type HsmScene, LABEL } from './scene.ts';
import { createSecrets, deleteSecrets, SYNC_INTERVAL_MS, watchDelivered } from './secrets-run.ts';
import { openVault, type Vault } from './vault.ts';
import { REVISION } from './vault-content.ts';

interface Restart {
  /** Until no work is left. */
  readonly ms: number;
  readonly calls: number;
  readonly reads: number;
  readonly writes: number;
}

/** restart measures the start of the operator in a cluster in its desired state. */
export async function restart(scene: HsmScene): Promise<readonly Measure[]> {
  const { pods, secrets: count, restartRounds: rounds } = scene.plan;
  await ensurePods(scene, pods);
  const samples = await takeRounds(scene, rounds);
  const title = `restart with ${pods} reports, ${pods} devices and ${count} HSMSecrets`;
  const measure = (id: keyof Restart, what: string, unit: Unit, limit?: number) =>
    judgedMeasure(
      {
        id: `restart-${id}`,
        title: `${title}: ${what}`,
        unit,
        subjects: [
          measured(
            'bowline',
            LABEL,
            samples.map((each) => each[id]),
          ),
        ],
      },
      limit === undefined ? [] : [{ id: `restart-${id}`, subject: 'bowline', bound: 'at most', limit }],
    );
  return [
    measure('ms', 'until it is idle', 'ms'),
    measure('calls', 'calls of the device', 'requests'),
    measure('reads', 'values read', 'requests', 0),
    measure('writes', 'writes', 'requests', 0),
  ];
}

async function takeRounds(scene: HsmScene, rounds: number): Promise<readonly Restart[]> {
  const samples: Restart[] = [];
  await using first = await runHsm(scene);
  await using vault = await deliverAll(scene);
  await first.settled();
  await first[Symbol.asyncDispose]();
  for (let round = 0; round < rounds; round += 1) {
    scene.log(`restart, round ${round + 1} of ${rounds}`);
    samples.push(await restartOnce(scene, vault));
  }
  // The finalizers of the HSMSecrets need an operator.
  await using _operator = await runHsm(scene);
  await deleteSecrets(scene);
  return samples;
}

/** deliverAll brings the pool and all Secrets to their desired state. The operator must run. */
async function deliverAll(scene: HsmScene): Promise<Vault> {
  const { pods, secrets: count } = scene.plan;
  using pool = await watchPool(scene, FLEET_NAMESPACE);
  using delivered = await watchDelivered(scene);
  const vault = await openVault(scene, count);
  await vault.start();
  await createSecrets(scene, count);
  await delivered.reached(REVISION, count);
  await pool.until(({ phase, availableDevices }) => phase === 'Ready' && availableDevices === pods);
  return vault;
}

/** restartOnce starts the operator, and lets it check the device once more after that. */
async function restartOnce(scene: HsmScene, vault: Vault): Promise<Restart> {
  const { api } = scene;
  const before = { ...(await vault.calls()), writes: await countRequests(api, operatorWrites) };
  await using operator = await runHsm(scene);
  await operator.settled();
  const ms = performance.now() - operator.startedAt;
  await pause(SYNC_INTERVAL_MS);
  await operator.settled();
  const after = await vault.calls();
  return {
    ms,
    calls: after.all - before.all,
    reads: after.reads - before.reads,
    writes: (await countRequests(api, operatorWrites)) - before.writes,
  };
}
