import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Measure, measured } from '../../result.ts';
import { judgedMeasure } from '../../support/rounds.ts';
import { openGateway } from './gateway.ts';
import { SERVICES } from './plant-repository.ts';
import { runGit } from './run-tool.ts';
import { AGENT, type IgnitionScene, plantOf } from './scene.ts';

/** transfer measures what the Git server sends to the agent of one of several equal services, and to a full clone. */
export async function transfer(scene: IgnitionScene): Promise<readonly Measure[]> {
  const { git } = scene;
  const plant = plantOf(scene);
  scene.log('bytes for one service');
  await using gateway = await openGateway(scene, { repo: plant.url, servicePath: 'services/service-1' });
  const hash = await gateway.publish(plant.services);
  const sentBefore = git.sentBytes;
  await using agent = await gateway.start();
  await gateway.reports.until(({ appliedHash }) => appliedHash === hash, agent);
  const forAgent = git.sentBytes - sentBefore;
  const clone = join(scene.folder, 'transfer-clone');
  await runGit(scene.folder, 'clone', '--quiet', '--bare', '--depth', '1', '--branch', 'services', plant.url, clone);
  const forClone = git.sentBytes - sentBefore - forAgent;
  rmSync(clone, { recursive: true, force: true });
  return [
    judgedMeasure(
      {
        id: 'transfer',
        title: `sent by the Git server for one of ${SERVICES} equal services`,
        unit: 'MB',
        subjects: [
          measured('agent', AGENT, [forAgent / 1e6]),
          measured('clone', '`git clone --depth 1`, all services', [forClone / 1e6]),
        ],
      },
      [{ id: 'transfer', subject: 'agent', against: 'clone', bound: 'at most', limit: 0.25 }],
    ),
  ];
}
