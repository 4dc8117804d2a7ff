import { setTimeout as pause } from 'node:timers/promises';
import { type Measure, measured } from '../../result.ts';
import { inParallel } from '../../support/api.ts';
import { judgedMeasure } from '../../support/rounds.ts';
import { runIgnitionSync } from './operator-run.ts';
import { type IgnitionScene, LABEL } from './scene.ts';
import { createSync, deleteSyncs, openNamespace } from './syncs.ts';

/** The shortest interval that an IgnitionSync can have, in seconds. */
const interval = 5;
const writesInFlight = 16;

/** sharedSource measures how often a repository is queried if one IgnitionSync follows it, and if many do. */
export async function sharedSource(scene: IgnitionScene): Promise<readonly Measure[]> {
  const { sharedSyncs, pollIntervals } = scene.plan;
  const sources = [
    { id: 'one', label: `${LABEL}, one IgnitionSync`, syncs: 1, calls: [] as number[] },
    { id: 'many', label: `${LABEL}, ${sharedSyncs} IgnitionSyncs`, syncs: sharedSyncs, calls: [] as number[] },
  ];
  await using operator = await runIgnitionSync(scene);
  for (const { id, syncs } of sources) {
    const namespace = `bench-shared-${id}`;
    const repository = await scene.git.repositories.create(`shared-${id}.git`);
    await repository.commit({ 'projects/overview/project.json': '{}' });
    await openNamespace(scene, namespace);
    const names = Array.from({ length: syncs }, (_, index) => `plant-${index}`);
    await inParallel(names, writesInFlight, (name) =>
      createSync(scene, { namespace, name }, `${scene.git.url}/${repository.name}`, interval),
    );
  }
  // Everything is polled at least once, so that the first resolutions are not counted.
  await pause(2 * interval * 1_000);
  scene.log(`counting git calls for ${pollIntervals} intervals of ${interval} s`);
  {
    using _listener = scene.onGitRequest(({ url }) => {
      const source = sources.find(({ id }) => url.startsWith(`/shared-${id}.git/info/refs`));
      source?.calls.push(performance.now());
    });
    await pause(pollIntervals * interval * 1_000);
  }
  for (const { id } of sources) await deleteSyncs(scene, `bench-shared-${id}`);
  await operator.settled();
  return [
    judgedMeasure(
      {
        id: 'shared-source',
        title: 'queries of a repository per polling interval',
        unit: 'requests',
        subjects: sources.map(({ id, label, calls }) => measured(id, label, [callsPerInterval(calls)])),
      },
      [{ id: 'shared-source', subject: 'many', against: 'one', bound: 'at most', limit: 1 }],
    ),
  ];
}

/** The times between calls count, not how many happen to fall into the time in which they were counted. */
function callsPerInterval(calls: readonly number[]): number {
  const [first, last] = [calls[0], calls.at(-1)];
  if (first === undefined || last === undefined || first === last) return calls.length;
  return ((calls.length - 1) * interval * 1_000) / (last - first);
}
