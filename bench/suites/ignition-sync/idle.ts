import { setTimeout as pause } from 'node:timers/promises';
import { type Measure, measured } from '../../result.ts';
import { judgedMeasure } from '../../support/rounds.ts';
import { openGateway } from './gateway.ts';
import { AGENT, type IgnitionScene, plantOf } from './scene.ts';

/** What follows a sync must not count as idle. */
const settleMs = 2_000;

/** idle measures an agent after its first sync, while its gateway has the desired state. */
export async function idle(scene: IgnitionScene): Promise<readonly Measure[]> {
  const { idleMs } = scene.plan;
  const plant = plantOf(scene);
  await using gateway = await openGateway(scene, { repo: plant.url, isRunning: true });
  await gateway.publish(plant.main);
  await using agent = await gateway.start();
  await gateway.reports.until(({ syncedCommit }) => syncedCommit === plant.main, agent);
  await pause(settleMs);
  scene.log(`an idle agent, for ${idleMs / 1_000} s`);
  const cpuBefore = agent.cpuMs();
  await pause(idleMs);
  const cpuMsPerMinute = ((agent.cpuMs() - cpuBefore) * 60_000) / idleMs;
  const ours = (value: number) => [measured('agent', AGENT, [value])];
  return [
    judgedMeasure(
      { id: 'agent-idle-memory', title: 'idle agent: memory', unit: 'MB', subjects: ours(agent.memory().currentMb) },
      [{ id: 'agent-idle-memory', subject: 'agent', bound: 'at most', limit: 70 }],
    ),
    judgedMeasure(
      {
        id: 'agent-idle-cpu',
        title: 'idle agent: processor time per minute',
        unit: 'ms',
        subjects: ours(cpuMsPerMinute),
      },
      [{ id: 'agent-idle-cpu', subject: 'agent', bound: 'at most', limit: 200 }],
    ),
  ];
}
