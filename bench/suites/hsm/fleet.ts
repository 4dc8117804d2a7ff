import { createHash } from 'node:crypto';
import { REPORT_ANNOTATION } from '../../../operators/hsm-secrets/src/api/names.ts';
import { formatReport } from '../../../operators/hsm-secrets/src/reports/format-report.ts';
import { inParallel } from '../../support/api.ts';
import type { RawRequest } from '../../support/raw-request.ts';
import { MERGE_PATCH, untilExists } from '../../support/requests.ts';
import { runPod } from '../../support/run-pod.ts';
import { createPod, deletePod, type Workload, type WorkloadPod } from './pods.ts';
import { devicesPath, poolsPath } from './requests.ts';
import type { HsmScene } from './scene.ts';

/** FLEET_NAMESPACE is the namespace of the HSMDevice `fleet`, whose devices are on many nodes. */
export const FLEET_NAMESPACE = 'bench-fleet';
const FLEET = 'fleet';

/** The most devices that an HSMDevice can have. Further pods report none. */
export const MAX_DEVICES = 1_024;

const writesInFlight = 24;
const daemonSetPath = `/apis/apps/v1/namespaces/${FLEET_NAMESPACE}/daemonsets/${FLEET}-discovery`;
const poolPath = `${poolsPath(FLEET_NAMESPACE)}/${FLEET}-pool`;

/** createFleet creates the HSMDevice. Its pods stay fresh for longer than any run takes. */
export async function createFleet({ api }: HsmScene): Promise<void> {
  await api.ok('POST', devicesPath(FLEET_NAMESPACE), {
    apiVersion: 'hsm.j5t.io/v1alpha1',
    kind: 'HSMDevice',
    metadata: { name: FLEET },
    spec: {
      deviceType: 'PicoHSM',
      discovery: { usb: [{ vendorId: '20a0', productId: '4230' }] },
      maxDevices: MAX_DEVICES,
      gracePeriod: '1h',
    },
  });
}

/** readFleet waits for the DaemonSet that the operator creates. */
export async function readFleet({ api, known }: HsmScene): Promise<void> {
  known.fleet = await untilExists<Workload>(api, daemonSetPath);
}

function podAt(index: number): WorkloadPod {
  const number = String(index).padStart(5, '0');
  const ip = `10.${64 + (index >> 16)}.${(index >> 8) & 255}.${index & 255}`;
  return { name: `${FLEET}-discovery-${number}`, nodeName: `node-${number}`, ip };
}

/** fleetPod returns the name and the node of the first pod. */
export function fleetPod(): WorkloadPod {
  return podAt(0);
}

/**
 * ensurePods creates or deletes pods until exactly the first `count` exist, each with its report. It resets the pool if some are
 * deleted.
 */
export async function ensurePods(scene: HsmScene, count: number): Promise<void> {
  const { api, known, log } = scene;
  const { fleet, pods } = known;
  if (fleet === undefined) throw new Error('the DaemonSet does not exist yet');
  if (!known.haveReports) await writeReports(scene);
  if (count === pods) return;
  // The pool keeps the devices of deleted pods during the grace period.
  if (count < pods) await resetPool(scene);
  log(`${count > pods ? 'creating' : 'deleting'} ${Math.abs(count - pods)} discovery pods`);
  await inParallel(range(Math.min(count, pods), Math.max(count, pods)), writesInFlight, async (index) => {
    const pod = podAt(index);
    if (count < pods) return deletePod(scene, FLEET_NAMESPACE, pod.name);
    await createPod(scene, FLEET_NAMESPACE, fleet, pod, { [REPORT_ANNOTATION]: reportOf(index, 0) });
    await runPod(api, { namespace: FLEET_NAMESPACE, ...pod });
  });
  const scheduled = { desiredNumberScheduled: count, currentNumberScheduled: count, numberReady: count };
  await api.ok('PATCH', `${daemonSetPath}/status`, { status: { ...scheduled, numberMisscheduled: 0 } }, MERGE_PATCH);
  known.pods = count;
}

/** resetPool deletes the pool, which the operator creates again, without devices. No operator may run. */
export async function resetPool({ api }: HsmScene): Promise<void> {
  await api.ok('DELETE', poolPath, undefined, undefined, [404]);
}

/** clearReports removes the reports of all pods. */
export async function clearReports({ api, known }: HsmScene): Promise<void> {
  known.haveReports = false;
  await inParallel(range(0, known.pods), writesInFlight, async (index) => {
    const body = { metadata: { annotations: { [REPORT_ANNOTATION]: null } } };
    await api.ok('PATCH', podPath(index), body, MERGE_PATCH);
  });
}

async function writeReports(scene: HsmScene): Promise<void> {
  await inParallel(reportRequests(scene.known.pods, 0), writesInFlight, async ({ method, path, body, contentType }) => {
    await scene.api.ok(method, path, JSON.parse(body), contentType);
  });
  scene.known.haveReports = true;
}

/**
 * reportRequests returns the patches with which the first pods report once. Reports of different sequence numbers differ only in
 * their times.
 */
export function reportRequests(pods: number, sequence: number): readonly RawRequest[] {
  return range(0, pods).map((index) => ({
    method: 'PATCH',
    path: podPath(index),
    contentType: MERGE_PATCH,
    body: JSON.stringify({ metadata: { annotations: { [REPORT_ANNOTATION]: reportOf(index, sequence) } } }),
  }));
}

function podPath(index: number): string {
  return `/api/v1/namespaces/${FLEET_NAMESPACE}/pods/${podAt(index).name}`;
}

function reportOf(index: number, sequence: number): string {
  const { nodeName } = podAt(index);
  const time = new Date(Date.now() + sequence).toISOString();
  const device = {
    devicePath: '/dev/bus/usb/001/015',
    serialNumber: createHash('sha256').update(nodeName).digest('hex').slice(0, 16).toUpperCase(),
    lastSeen: time,
    nodeName,
    available: true,
    deviceInfo: { vendorId: '20a0', productId: '4230', manufacturer: 'Example', product: 'Pico HSM' },
  };
  return formatReport({
    hsmDeviceName: FLEET,
    reportingNode: nodeName,
    discoveredDevices: index < MAX_DEVICES ? [device] : [],
    lastReportTime: time,
    discoveryStatus: 'completed',
    error: undefined,
  });
}

function range(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from }, (_, offset) => from + offset);
}
