import { setTimeout as pause } from 'node:timers/promises';
import { type Measure, measured } from '../../result.ts';
import { startRawSender } from '../../support/raw-requests.ts';
import { asWritten, startRawWriter } from '../../support/raw-writes.ts';
import { countRequests } from '../../support/request-counts.ts';
import { judgedMeasure } from '../../support/rounds.ts';
import { numberIn } from '../../support/run-subject.ts';
import { type RunningHsm, runHsm } from './hsm-run.ts';
import { operatorWrites } from './operator-writes.ts';
import { type HsmScene, inFlight, LABEL } from './scene.ts';
import {
  createSecrets,
  deleteRaw,
  deleteSecrets,
  readDelivered,
  SYNC_INTERVAL_MS,
  secretRequests,
  watchDelivered,
} from './secrets-run.ts';
import { openVault, VAULT_NAMESPACE, type Vault } from './vault.ts';
import { nameAt, REVISION } from './vault-content.ts';

/** Steady is what happens in a sync interval in which nothing has changed. */
interface Steady {
  readonly calls: number;
  readonly reads: number;
  readonly writes: number;
}

/** secrets measures the delivery of the secrets of one device, and its cost while nothing changes. */
export async function secrets(scene: HsmScene): Promise<readonly Measure[]> {
  const { secretRounds: rounds, secrets: count } = scene.plan;
  const [waiting, created, raw]: [number[], number[], number[]] = [[], [], []];
  const steady: Steady[] = [];
  for (let round = 0; round < rounds; round += 1) {
    scene.log(`${count} HSMSecrets, round ${round + 1} of ${rounds}`);
    await using operator = await runHsm(scene);
    await using vault = await openVault(scene, count);
    waiting.push(await deliverWaiting(scene, operator, vault));
    if (round === rounds - 1) steady.push(...(await observeSteady(scene, operator, vault)));
    await rememberSecret(scene);
    await deleteSecrets(scene);
    created.push(await deliverCreated(scene, operator));
    await deleteSecrets(scene);
    raw.push(await writeRaw(scene));
  }
  return [...deliveryOf(count, waiting, created, raw), ...steadyOf(count, steady)];
}

/** deliverWaiting starts the agent while all HSMSecrets wait for it. */
async function deliverWaiting(scene: HsmScene, operator: RunningHsm, vault: Vault): Promise<number> {
  const { secrets: count } = scene.plan;
  await createSecrets(scene, count);
  await operator.settled();
  using watch = await watchDelivered(scene);
  const start = performance.now();
  await vault.start();
  const ms = (await watch.reached(REVISION, count)) - start;
  await operator.settled();
  return ms;
}

/** deliverCreated creates all HSMSecrets while the agent runs. */
async function deliverCreated(scene: HsmScene, operator: RunningHsm): Promise<number> {
  const { secrets: count } = scene.plan;
  await using sender = await startRawSender(scene, inFlight);
  await sender.load(secretRequests(count));
  await operator.settled();
  using watch = await watchDelivered(scene);
  const start = performance.now();
  const sent = sender.send();
  const ms = (await watch.reached(REVISION, count)) - start;
  await sent;
  await operator.settled();
  return ms;
}

/** writeRaw creates as many Secrets of the same size. The operator runs, and does not watch them. */
async function writeRaw(scene: HsmScene): Promise<number> {
  const { secret } = scene.known;
  const { secrets: count } = scene.plan;
  if (secret === undefined) throw new Error('no Secret was observed yet');
  const targets = Array.from({ length: count }, (_, index) => ({
    namespace: VAULT_NAMESPACE,
    suffix: `-${nameAt(index)}`,
  }));
  using watch = await watchDelivered(scene);
  await using writer = await startRawWriter(scene, { targets, template: secret, inFlight, style: 'replace' });
  const report = await writer.write('create', 'raw', REVISION);
  await watch.reached(REVISION, count);
  await deleteRaw(scene, count);
  return numberIn(report, 'ms');
}

async function rememberSecret(scene: HsmScene): Promise<void> {
  const { metadata, ...secret } = asWritten(await readDelivered(scene));
  // With the label of the operator its cache would have it; without its owner the garbage collector would delete it.
  const labels = { ...metadata.labels, 'app.kubernetes.io/managed-by': 'bowline-bench' };
  scene.known.secret = {
    ...secret,
    metadata: { labels, ...(metadata.annotations && { annotations: metadata.annotations }) },
  };
  scene.known.secretBytes = JSON.stringify(scene.known.secret).length;
}

/** observeSteady counts in each of some sync intervals. Each begins in the middle between two calls. */
async function observeSteady(scene: HsmScene, operator: RunningHsm, vault: Vault): Promise<readonly Steady[]> {
  const { api, plan } = scene;
  scene.log(`${plan.intervals} sync intervals without a change`);
  await operator.settled();
  const { lists } = await vault.calls();
  while ((await vault.calls()).lists === lists) await pause(20);
  const begin = performance.now() + SYNC_INTERVAL_MS / 2;
  const state = async () => ({ ...(await vault.calls()), writes: await countRequests(api, operatorWrites) });
  await pause(begin - performance.now());
  const steady: Steady[] = [];
  let before = await state();
  for (let interval = 1; interval <= plan.intervals; interval += 1) {
    await pause(begin + interval * SYNC_INTERVAL_MS - performance.now());
    const after = await state();
    steady.push({
      calls: after.all - before.all,
      reads: after.reads - before.reads,
      writes: after.writes - before.writes,
    });
    before = after;
  }
  return steady;
}

function deliveryOf(
  count: number,
  waiting: readonly number[],
  created: readonly number[],
  raw: readonly number[],
): readonly Measure[] {
  return [
    judgedMeasure(
      {
        id: 'secrets',
        title: `${count} HSMSecrets from one device: until all Secrets exist`,
        unit: 'ms',
        subjects: [
          measured('bowline', `${LABEL}, from the start of the agent`, waiting),
          measured('created', `${LABEL}, from the creation of the HSMSecrets`, created),
          measured('raw', `bare node:http2 loop, ${count} creates`, raw),
        ],
      },
      [{ id: 'secrets-raw', subject: 'bowline', against: 'raw', bound: 'at most', limit: 2 }],
    ),
  ];
}

function steadyOf(count: number, steady: readonly Steady[]): readonly Measure[] {
  const measure = (id: keyof Steady, title: string, limit: number) =>
    judgedMeasure(
      {
        id: `steady-${id}`,
        title: `${count} HSMSecrets without a change: ${title} per sync interval`,
        unit: 'requests',
        subjects: [
          measured(
            'bowline',
            LABEL,
            steady.map((each) => each[id]),
          ),
        ],
      },
      [{ id: `steady-${id}`, subject: 'bowline', bound: 'at most', limit }],
    );
  return [
    measure('calls', 'calls of the device', 1),
    measure('reads', 'values read', 0),
    measure('writes', 'writes to the cluster', 0),
  ];
}
