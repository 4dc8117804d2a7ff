import { type Measure, measured } from '../../result.ts';
import { inParallel } from '../../support/api.ts';
import { createConfigMaps, createNamespaces } from '../../support/config-maps.ts';
import { judgedMeasure } from '../../support/rounds.ts';
import { createUnrelatedPods } from '../../support/unrelated-pods.ts';
import { changeClusterName } from './cascade-run.ts';
import { clusterNameAt } from './five-objects.ts';
import { install, uninstall } from './installed.ts';
import { watchChildren } from './object-watch.ts';
import { LABEL, OPERAND_NAMESPACE, type ZtwimScene } from './scene.ts';
import { runZtwim } from './ztwim-run.ts';

const writesInFlight = 24;
/** Some of the ConfigMaps are next to those of the operator. */
const namespaces = ['bench-users-0', 'bench-users-1', OPERAND_NAMESPACE];

/** memory measures the operator's peak memory in an install, a change and a deletion, without and with many objects of users. */
export async function memory(scene: ZtwimScene): Promise<readonly Measure[]> {
  const { configMaps, pods, clusterSpiffeIds } = scene.plan;
  const alone = await peaks(scene, 'alone');
  await createObjectsOfUsers(scene);
  const among = await peaks(scene, 'with objects of users');
  const many = (count: number): string => count.toLocaleString('en-US');
  const others = `${many(configMaps)} ConfigMaps, ${many(pods)} Pods and ${many(clusterSpiffeIds)} ClusterSPIFFEIDs of users`;
  return [
    judgedMeasure(
      {
        id: 'memory',
        title: 'peak memory in an install, a change and a deletion',
        unit: 'MB',
        subjects: [measured('bowline', LABEL, alone), measured('among', `${LABEL}, with ${others}`, among)],
      },
      [
        { id: 'ztwim-memory', subject: 'bowline', bound: 'at most', limit: 90 },
        { id: 'memory-users', subject: 'among', against: 'bowline', bound: 'at most', limit: 1.05 },
      ],
    ),
  ];
}

async function peaks(scene: ZtwimScene, name: string): Promise<readonly number[]> {
  const { memoryRounds: rounds } = scene.plan;
  const peaks: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    scene.log(`memory ${name}, round ${round + 1} of ${rounds}`);
    await using operator = await runZtwim(scene);
    await install(scene, operator);
    {
      using children = await watchChildren(scene);
      await changeClusterName(scene, children, clusterNameAt(1));
    }
    await uninstall(scene, operator);
    peaks.push(operator.memory().peakMb);
  }
  return peaks;
}

async function createObjectsOfUsers({ api, plan, log }: ZtwimScene): Promise<void> {
  log(`creating ${plan.configMaps} ConfigMaps, ${plan.pods} Pods and ${plan.clusterSpiffeIds} ClusterSPIFFEIDs`);
  await createNamespaces(api, namespaces);
  await createConfigMaps(api, plan.configMaps, namespaces);
  await createUnrelatedPods(api, plan.pods);
  const indexes = Array.from({ length: plan.clusterSpiffeIds }, (_, index) => index);
  await inParallel(indexes, writesInFlight, async (index) => {
    const name = `users-${String(index).padStart(5, '0')}`;
    await api.ok('POST', '/apis/spire.spiffe.io/v1alpha1/clusterspiffeids', {
      apiVersion: 'spire.spiffe.io/v1alpha1',
      kind: 'ClusterSPIFFEID',
      metadata: { name, labels: { 'app.kubernetes.io/name': name } },
      spec: {
        spiffeIDTemplate: `spiffe://{{ .TrustDomain }}/users/${name}/{{ .PodMeta.Name }}`,
        podSelector: { matchLabels: { 'app.kubernetes.io/name': name } },
      },
    });
  });
}
