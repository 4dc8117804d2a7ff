import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createHostTree, type HostTree } from '../../../operators/hsm-secrets/src/discovery/host-tree.test-support.ts';
import { type Measure, measured, type SubjectResult } from '../../result.ts';
import { installProgram } from '../../support/installed-program.ts';
import { childrenOf, memoryOf } from '../../support/process-usage.ts';
import { judgedMeasure } from '../../support/rounds.ts';
import { startSubject } from '../../support/run-subject.ts';
import { SubjectProcess } from '../../support/subject-process.ts';
import { FLEET_NAMESPACE, fleetPod } from './fleet.ts';
import type { HsmScene } from './scene.ts';
import { pkcs11Tools, startSoftHsmAgent } from './soft-hsm-agent.ts';

/** idle measures the memory of the processes that run on every node and for every device, when nothing happens. */
export async function idle(scene: HsmScene): Promise<readonly Measure[]> {
  const { idleRounds: rounds } = scene.plan;
  const program = await installProgram(join(scene.folder, 'idle'));
  const tools = await pkcs11Tools(scene.log);
  const samples = { discovery: [] as number[], agent: [] as number[], node: [] as number[] };
  for (let round = 0; round < rounds; round += 1) {
    scene.log(`idle memory, round ${round + 1} of ${rounds}`);
    await using node = await startSubject({ command: scene.command('nothing'), args: ['{}'] });
    await using host = await createHostTree();
    await using discovery = await startDiscovery(scene, program, host);
    await using agent = 'skippedBecause' in tools ? undefined : await startSoftHsmAgent(scene, tools, program);
    await pause(scene.plan.idleMs);
    samples.node.push(node.memory().currentMb);
    samples.discovery.push(discovery.memory().currentMb);
    if (agent) samples.agent.push(memoryWithChildren(agent.process));
  }
  const label = 'agent with worker';
  const agent: SubjectResult =
    'skippedBecause' in tools
      ? { id: 'agent', label, leftOut: tools.skippedBecause }
      : measured('agent', label, samples.agent);
  return [
    judgedMeasure(
      {
        id: 'idle',
        title: 'idle memory',
        unit: 'MB',
        subjects: [
          measured('discovery', 'discovery', samples.discovery),
          agent,
          measured('node', 'Node, idle', samples.node),
        ],
      },
      [
        { id: 'idle-discovery', subject: 'discovery', against: 'node', bound: 'at most', limit: 1.5 },
        { id: 'idle-agent', subject: 'agent', against: 'node', bound: 'at most', limit: 3 },
      ],
    ),
  ];
}

function memoryWithChildren({ pid }: SubjectProcess): number {
  const children = childrenOf(pid);
  if (children.length !== 1) throw new Error(`the agent has ${children.length} child processes instead of its worker`);
  return [pid, ...children].map((each) => memoryOf(each).currentMb).reduce((sum, each) => sum + each, 0);
}

/** startDiscovery runs the command with the permissions of its pod, on a generated node with one device. */
async function startDiscovery(
  { folder, cluster, api }: HsmScene,
  program: string,
  host: HostTree,
): Promise<SubjectProcess> {
  await host.plug('1-1', { vendorId: '20a0', productId: '4230', serial: 'DC6A33145E23A42A', bus: 1, device: 15 });
  const { name: pod, nodeName } = fleetPod();
  const serviceAccount = { namespace: FLEET_NAMESPACE, name: 'fleet-discovery' };
  const kubeconfig = join(folder, 'discovery.kubeconfig');
  writeFileSync(kubeconfig, JSON.stringify(await cluster.kubeconfigFor({ serviceAccount, pod })), { mode: 0o600 });
  const flags = {
    ...{ device: 'fleet', 'pod-name': pod, 'pod-namespace': FLEET_NAMESPACE, 'node-name': nodeName, kubeconfig },
    ...{ sysfs: host.sysfs, dev: host.dev, run: host.run, 'health-listen': '127.0.0.1:0' },
  };
  const args = Object.entries(flags).flatMap(([flag, text]) => [`--${flag}`, text]);
  const command = [program, 'hsm-secrets', 'discovery', ...args];
  const running = new SubjectProcess({ file: process.execPath, args: command, endSignal: 'SIGTERM' }, []);
  const path = `/api/v1/namespaces/${FLEET_NAMESPACE}/pods/${pod}`;
  const deadline = performance.now() + 60_000;
  while (!(await api.ok('GET', path)).includes('DC6A33145E23A42A')) {
    if (performance.now() > deadline) throw new Error(`discovery does not report: ${running.output()}`);
    await pause(50);
  }
  return running;
}
