import type { Measure } from '../../result.ts';
import { type Candidate, judgedMeasure, peerCandidate, runRounds } from '../../support/rounds.ts';
import { numberIn, runSubject, type Subject, subjectArguments } from '../../support/run-subject.ts';
import { smallHeapArgument } from '../../support/subject.ts';
import type { RuntimeScene } from './scene.ts';

/** Long enough for the garbage of a sync to show in the peak. */
const restMs = 500;

/** coldSync measures the time and memory to fill an empty cache with every ConfigMap. */
export async function coldSync(scene: RuntimeScene): Promise<readonly Measure[]> {
  const { objects, syncRounds } = scene.plan;
  const bare: Subject = {
    id: 'bare',
    label: 'bare node:http2 loop',
    command: scene.command('bare-sync'),
    args: subjectArguments(scene),
  };
  // One uncounted run: the first reader of a kind also warms the server's caches.
  await runSubject(bare, 0);
  const outcomes = await runRounds(candidates(scene, bare), {
    rounds: syncRounds,
    restMs,
    announce: (round) => scene.log(`cold sync of ${objects} ConfigMaps, round ${round + 1} of ${syncRounds}`),
    verify: (subject, { report }) => {
      const found = numberIn(report, 'objects');
      if (found < objects) throw new Error(`${subject.label} found ${found} of ${objects} objects`);
    },
  });
  const count = objects.toLocaleString('en-US');
  return [
    judgedMeasure(
      {
        id: 'cold-sync-time',
        title: `cold sync of ${count} ConfigMaps`,
        unit: 'ms',
        subjects: outcomes.results(({ report }) => numberIn(report, 'syncMs')),
      },
      [{ id: 'cold-sync-time', subject: 'bowline', against: 'bare', bound: 'at most', limit: 1.3 }],
    ),
    judgedMeasure(
      {
        id: 'cold-sync-peak',
        title: 'peak memory of that sync',
        unit: 'MB',
        subjects: outcomes.results(({ memory }) => memory.peakMb),
      },
      [
        { id: 'cold-sync-peak-go', subject: 'bowline', against: 'controller-runtime', bound: 'at most', limit: 1 },
        {
          id: 'cold-sync-peak-go-small',
          subject: 'bowline-small',
          against: 'controller-runtime',
          bound: 'at most',
          limit: 1,
        },
        {
          id: 'cold-sync-peak-client-node',
          subject: 'bowline',
          against: 'client-node',
          bound: 'at most',
          limit: 0.5,
        },
        {
          id: 'cold-sync-peak-client-node-small',
          subject: 'bowline-small',
          against: 'client-node',
          bound: 'at most',
          limit: 0.5,
        },
      ],
    ),
    judgedMeasure({
      id: 'cold-sync-from-start',
      title: 'process start to synced',
      unit: 'ms',
      subjects: outcomes.results(({ sinceStartMs }) => sinceStartMs),
    }),
  ];
}

function candidates(scene: RuntimeScene, bare: Subject): readonly Candidate[] {
  const args = subjectArguments(scene);
  const bowline: Subject = {
    id: 'bowline',
    label: 'Bowline informer',
    command: scene.command('bowline-sync'),
    args,
  };
  return [
    bowline,
    withSmallHeap(bowline),
    bare,
    withSmallHeap(bare),
    peerCandidate('controller-runtime', 'controller-runtime cache', scene.controllerRuntime, [
      '-kubeconfig',
      scene.kubeconfig,
    ]),
    peerCandidate('client-node', '@kubernetes/client-node informer', scene.clientNode, [scene.kubeconfig]),
  ];
}

/** withSmallHeap returns the same subject as run by `runUntilSignal`: with V8's heap kept small. */
export function withSmallHeap(subject: Subject): Subject {
  return {
    ...subject,
    id: `${subject.id}-small`,
    label: `${subject.label}, small heap`,
    args: [...subject.args, smallHeapArgument],
  };
}
