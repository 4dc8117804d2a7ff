import { setTimeout as pause } from 'node:timers/promises';
import { type Measure, measured, type SubjectResult } from '../../result.ts';
import { Api } from '../../support/api.ts';
import { createConfigMaps, createNamespaces } from '../../support/config-maps.ts';
import { judgedMeasure } from '../../support/rounds.ts';
import type { ControlPlaneScene } from './scene.ts';
import type { Server } from './servers.ts';

/** filledNamespace returns the name of a namespace that `memory` fills. */
export function filledNamespace(index: number): string {
  return `bench-${index}`;
}

/** memory fills both servers with ConfigMaps of 1.2 kB and measures their memory. */
export async function memory(scene: ControlPlaneScene): Promise<readonly Measure[]> {
  const servers = [scene.embedded, scene.real];
  const before = servers.map((server) => resident(server));
  for (const server of servers) await fill(scene, server);
  await pause(scene.plan.settleMs);
  const count = scene.plan.objects.toLocaleString('en-US');
  return [
    judgedMeasure({ id: 'memory-empty', title: 'memory of a server without objects', unit: 'MB', subjects: before }),
    judgedMeasure(
      {
        id: 'memory',
        title: `memory of a server with ${count} ConfigMaps of 1.2 kB`,
        unit: 'MB',
        subjects: servers.map((server) => resident(server)),
      },
      [
        { id: 'memory', subject: 'embedded', bound: 'at most', limit: 250 },
        { id: 'memory-real', subject: 'embedded', against: 'kubernetes', bound: 'at most', limit: 1 },
      ],
    ),
  ];
}

function resident(server: Server): SubjectResult {
  return measured(server.id, server.label, [server.memoryMb()]);
}

async function fill({ plan, log }: ControlPlaneScene, server: Server): Promise<void> {
  log(`creating ${plan.objects} ConfigMaps: ${server.label}`);
  const namespaces = Array.from({ length: plan.namespaces }, (_, index) => filledNamespace(index));
  await using api = new Api(server.scene.connection);
  await createNamespaces(api, namespaces);
  await createConfigMaps(api, plan.objects, namespaces);
}
