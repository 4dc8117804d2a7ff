import { type RawSender, startRawSender } from '../../support/raw-requests.ts';
import { countRequests, WRITES } from '../../support/request-counts.ts';
import { numberIn } from '../../support/run-subject.ts';
import { clearReports, ensurePods, FLEET_NAMESPACE, reportRequests, resetPool } from './fleet.ts';
import { runHsm } from './hsm-run.ts';
import { watchPool } from './pool-watch.ts';
import { type HsmScene, inFlight } from './scene.ts';

/** ReportsAtOnce is the cost of the first reports of all pods. */
export interface ReportsAtOnce {
  /** Until the pool has all devices; of the bare loop, until its last response. */
  readonly ms: number;
  /** Values that only an operator has. */
  readonly operator?: { readonly statusWrites: number; readonly cpuMs: number; readonly peakMb: number };
}

const poolWrites = { resources: ['hsmpools'], verbs: WRITES };

/** runReports lets all pods report at once while the operator runs, and the pool is empty. */
export async function runReports(scene: HsmScene, pods: number): Promise<ReportsAtOnce> {
  await ensurePods(scene, pods);
  await clearReports(scene);
  await resetPool(scene);
  await using sender = await loadReports(scene, pods);
  using watch = await watchPool(scene, FLEET_NAMESPACE);
  await using operator = await runHsm(scene);
  await watch.until(({ phase }) => phase === 'Pending');
  await operator.settled();
  const cpuBefore = operator.cpuMs();
  const writesBefore = await countRequests(scene.api, poolWrites);
  const start = performance.now();
  const sent = sender.send();
  const ms = (await watch.until(({ availableDevices }) => availableDevices === pods)) - start;
  await sent;
  scene.known.haveReports = true;
  await watch.until(({ phase }) => phase === 'Ready');
  await operator.settled();
  const statusWrites = (await countRequests(scene.api, poolWrites)) - writesBefore;
  const { peakMb } = operator.memory();
  return { ms, operator: { statusWrites, cpuMs: operator.cpuMs() - cpuBefore, peakMb } };
}

/** runRawReports sends the same patches while no operator runs. */
export async function runRawReports(scene: HsmScene, pods: number): Promise<ReportsAtOnce> {
  await ensurePods(scene, pods);
  await using sender = await loadReports(scene, pods);
  // The harness watches here too, so that the server and the machine have the same load.
  using _watch = await watchPool(scene, FLEET_NAMESPACE);
  return { ms: numberIn(await sender.send(), 'ms') };
}

async function loadReports(scene: HsmScene, pods: number): Promise<RawSender> {
  const sender = await startRawSender(scene, inFlight);
  await sender.load(reportRequests(pods, 0));
  return sender;
}
