import { setTimeout as pause } from 'node:timers/promises';
import { DISCOVERY_SELECTOR } from '../../../operators/hsm-secrets/src/api/names.ts';
import { startRawSender } from '../../support/raw-requests.ts';
import { countRequests } from '../../support/request-counts.ts';
import { startSubject, subjectArguments } from '../../support/run-subject.ts';
import { smallHeapArgument } from '../../support/subject.ts';
import type { SubjectProcess } from '../../support/subject-process.ts';
import { ensurePods, FLEET_NAMESPACE, MAX_DEVICES, reportRequests } from './fleet.ts';
import { runHsm } from './hsm-run.ts';
import { operatorWrites } from './operator-writes.ts';
import { watchPool } from './pool-watch.ts';
import { type HsmScene, inFlight } from './scene.ts';

/** Heartbeats is the cost of repeated reports without a change. */
export interface Heartbeats extends Cost {
  /** Of the first of them. */
  readonly first: Cost;
  /** The operator's peak memory since its start. */
  readonly peakMb: number;
}

interface Cost {
  readonly writes: number;
  readonly cpuMs: number;
  /** Of the bare watch, of the same events at the same time. */
  readonly bareCpuMs: number;
}

const timeoutMs = 120_000;
/** The operator has handled all events this long after a bare watch. */
const restMs = 500;

/**
 * runHeartbeats lets the pods repeat their reports `count` times while the operator and a bare watch run. The first ones, in
 * which V8 compiles hot code, are not counted: operators run for weeks.
 */
export async function runHeartbeats(scene: HsmScene, pods: number, count: number): Promise<Heartbeats> {
  const { api, plan } = scene;
  await ensurePods(scene, pods);
  await aggregateOnce(scene, pods);
  await using operator = await runHsm(scene);
  await using bare = await startBareWatch(scene);
  await using sender = await startRawSender(scene, inFlight);
  await operator.settled();
  let sequence = 0;
  const repeat = async (heartbeats: number): Promise<void> => {
    for (let left = heartbeats; left > 0; left -= pods) {
      sequence += 1;
      await sender.load(reportRequests(Math.min(pods, left), sequence));
      await sender.send();
    }
    bare.send(String(heartbeats));
    await bare.next(timeoutMs);
    await pause(restMs);
  };
  const spent = async (before?: Cost): Promise<Cost> => ({
    writes: (await countRequests(api, operatorWrites)) - (before?.writes ?? 0),
    cpuMs: operator.cpuMs() - (before?.cpuMs ?? 0),
    bareCpuMs: bare.cpuMs() - (before?.bareCpuMs ?? 0),
  });
  await repeat(plan.warmUpHeartbeats);
  const before = await spent();
  await repeat(plan.growthHeartbeats);
  const first = await spent(before);
  if (count > plan.growthHeartbeats) await repeat(count - plan.growthHeartbeats);
  return { ...(await spent(before)), first, peakMb: operator.memory().peakMb };
}

/** aggregateOnce writes the status of the pool, so that the measured operator starts as usual. */
async function aggregateOnce(scene: HsmScene, pods: number): Promise<void> {
  using watch = await watchPool(scene, FLEET_NAMESPACE);
  await using operator = await runHsm(scene);
  const devices = Math.min(pods, MAX_DEVICES);
  await watch.until(({ phase, availableDevices }) => phase === 'Ready' && availableDevices === devices);
  await operator.settled();
}

/** startBareWatch starts a watch of the same pods, with the same settings of V8 as the operator. */
function startBareWatch(scene: HsmScene): Promise<SubjectProcess> {
  const selector = `labelSelector=${encodeURIComponent(DISCOVERY_SELECTOR)}`;
  return startSubject({
    command: scene.command('bare-pod-watch'),
    args: [...subjectArguments(scene, { selector }), smallHeapArgument],
  });
}
