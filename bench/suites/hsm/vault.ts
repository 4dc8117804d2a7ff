import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { AGENT_PORT, agentName, REPORT_ANNOTATION } from '../../../operators/hsm-secrets/src/api/names.ts';
import { MERGE_PATCH, untilExists } from '../../support/requests.ts';
import { runPod } from '../../support/run-pod.ts';
import { numberIn, startSubject, subjectArguments } from '../../support/run-subject.ts';
import { createPod, deletePod, type Workload, type WorkloadPod } from './pods.ts';
import { devicesPath, poolsPath } from './requests.ts';
import type { HsmScene } from './scene.ts';

/** VAULT_NAMESPACE is the namespace of the HSMDevice `vault`, which has one device with secrets. */
export const VAULT_NAMESPACE = 'bench-vault';
/** VAULT is the name of the HSMDevice. */
export const VAULT = 'vault';

const serialNumber = 'VAULT0001';
const pin = '648219';
const nodeName = 'vault-node';
const workloads = `/apis/apps/v1/namespaces/${VAULT_NAMESPACE}`;
const daemonSetPath = `${workloads}/daemonsets/${VAULT}-discovery`;
const deploymentPath = `${workloads}/deployments/${agentName(VAULT, serialNumber)}`;
const poolPath = `${poolsPath(VAULT_NAMESPACE)}/${VAULT}-pool`;
const tlsPath = `/api/v1/namespaces/${VAULT_NAMESPACE}/secrets/${VAULT}-agent-tls`;
const discovery: WorkloadPod = { name: `${VAULT}-discovery-00000`, nodeName, ip: '10.63.0.1' };

/** AgentCalls counts the calls that an agent has received. */
export interface AgentCalls {
  readonly all: number;
  /** Calls that return values. */
  readonly reads: number;
  /** Calls that return checksums. */
  readonly lists: number;
}

/** Vault is a device with secrets, and the process of its agent. */
export interface Vault extends AsyncDisposable {
  /** start lets the pod of the agent run, so that the manager finds the agent. */
  start(): Promise<void>;
  /** stop replaces the pod of the agent by one that does not run yet. */
  stop(): Promise<void>;
  calls(): Promise<AgentCalls>;
}

/**
 * openVault creates the HSMDevice with its discovery pod and the process of the agent, whose pod is not running yet. The manager
 * finds it as in a cluster, by the address of that pod, which is a loopback address of its own. The operator must run.
 */
export async function openVault(scene: HsmScene, secrets: number): Promise<Vault> {
  const { api } = scene;
  await createDevice(scene);
  const daemonSet = await untilExists<Workload>(api, daemonSetPath);
  const scheduled = { desiredNumberScheduled: 1, currentNumberScheduled: 1, numberReady: 1, numberMisscheduled: 0 };
  await api.ok('PATCH', `${daemonSetPath}/status`, { status: scheduled }, MERGE_PATCH);
  await createPod(scene, VAULT_NAMESPACE, daemonSet, discovery);
  await runPod(api, { namespace: VAULT_NAMESPACE, ...discovery });
  await writeReport(scene);
  const deployment = await untilExists<Workload>(api, deploymentPath);
  const tlsFolder = await mountCertificate(scene);
  const ip = loopbackAddress();
  const agent = await startSubject({
    command: scene.command('hsm-agent'),
    args: subjectArguments(scene, { address: `${ip}:${AGENT_PORT}`, tlsFolder, pin, serialNumber, secrets }),
  });
  let count = 0;
  const pod = (): WorkloadPod => ({ name: `${VAULT}-agent-${count}`, nodeName, ip });
  const vault: Vault = {
    start: () => runPod(api, { namespace: VAULT_NAMESPACE, ...pod() }),
    async stop() {
      await deletePod(scene, VAULT_NAMESPACE, pod().name);
      count += 1;
      await createPod(scene, VAULT_NAMESPACE, deployment, pod());
    },
    async calls() {
      agent.send('calls');
      const report = await agent.next(60_000);
      return { all: numberIn(report, 'all'), reads: numberIn(report, 'reads'), lists: numberIn(report, 'lists') };
    },
    async [Symbol.asyncDispose]() {
      await agent.release();
      await deletePod(scene, VAULT_NAMESPACE, pod().name);
      await api.ok('DELETE', `${devicesPath(VAULT_NAMESPACE)}/${VAULT}`);
      // The garbage collector deletes the rest.
      for (const path of [poolPath, daemonSetPath, deploymentPath, tlsPath])
        while ((await api.request('GET', path)).status !== 404) await pause(50);
      await deletePod(scene, VAULT_NAMESPACE, discovery.name);
    },
  };
  await vault.stop();
  return vault;
}

async function createDevice({ api }: HsmScene): Promise<void> {
  const name = 'vault-pin';
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name }, stringData: { pin } };
  await api.ok('POST', `/api/v1/namespaces/${VAULT_NAMESPACE}/secrets`, secret, undefined, [409]);
  await api.ok('POST', devicesPath(VAULT_NAMESPACE), {
    apiVersion: 'hsm.j5t.io/v1alpha1',
    kind: 'HSMDevice',
    metadata: { name: VAULT },
    spec: {
      deviceType: 'SoftHSM',
      discovery: { devicePath: { path: '/dev/vault*' } },
      gracePeriod: '1h',
      pkcs11: { libraryPath: '/usr/lib/softhsm/libsofthsm2.so', pinSecret: { name, key: 'pin' } },
    },
  });
}

async function writeReport({ api }: HsmScene): Promise<void> {
  const report = {
    hsmDeviceName: VAULT,
    reportingNode: nodeName,
    discoveredDevices: [{ devicePath: '/dev/vault0', serialNumber }],
    lastReportTime: new Date().toISOString(),
    discoveryStatus: 'completed',
  };
  const body = { metadata: { annotations: { [REPORT_ANNOTATION]: JSON.stringify(report) } } };
  await api.ok('PATCH', `/api/v1/namespaces/${VAULT_NAMESPACE}/pods/${discovery.name}`, body, MERGE_PATCH);
}

/** mountCertificate writes the certificate that the manager has issued to a folder, as kubelet would. */
async function mountCertificate({ api, folder }: HsmScene): Promise<string> {
  const { data } = await untilExists<{ readonly data: Readonly<Record<string, string>> }>(api, tlsPath);
  const tlsFolder = join(folder, 'agent-tls');
  mkdirSync(tlsFolder, { recursive: true });
  for (const [key, value] of Object.entries(data))
    writeFileSync(join(tlsFolder, key), Buffer.from(value, 'base64'), { mode: 0o600 });
  return tlsFolder;
}

/** loopbackAddress returns an address that other runs on this machine do not use: the port of agents is fixed. */
function loopbackAddress(): string {
  return `127.77.${(process.pid >> 8) & 255}.${process.pid & 255 || 1}`;
}
