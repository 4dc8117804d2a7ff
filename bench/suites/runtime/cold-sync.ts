import {
  judge,
  type LeftOutSubject,
  type Measure,
  measured,
  type SubjectResult,
  type Target,
  type Unit,
} from '../../result.ts';
import { rotate } from '../../statistics.ts';
import { withNodeFlags } from '../../support/bundle.ts';
import type { Peer } from '../../support/peers.ts';
import { whyMissed } from './missed.ts';
import { numberIn, type Outcome, runSubject, type Scene, type Subject, subjectArguments } from './scene.ts';

/** Long enough for what a sync leaves behind to show in the peak. */
const restMs = 500;

/** V8 gives new objects up to 16 MB twice by default; a smaller nursery trades a little time for memory. */
const smallNursery = ['--max-semi-space-size=4'];

/** coldSync measures the time and memory to fill a cache with every ConfigMap from nothing. */
export async function coldSync(scene: Scene): Promise<readonly Measure[]> {
  const { plan } = scene;
  const subjects = coldSyncSubjects(scene);
  const present = subjects.filter((subject): subject is Subject => 'command' in subject);
  const outcomes = new Map<string, Outcome[]>(present.map(({ id }) => [id, []]));
  const bare = present.find(({ id }) => id === 'bare');
  // One run that does not count: the first reader of a kind also pays for the server's caches.
  if (bare !== undefined) await runSubject(bare, 0);
  for (let round = 0; round < plan.syncRounds; round += 1) {
    scene.log(`cold sync of ${plan.objects} ConfigMaps, round ${round + 1} of ${plan.syncRounds}`);
    for (const subject of rotate(present, round)) {
      const outcome = await runSubject(subject, restMs);
      const objects = numberIn(outcome.report, 'objects');
      if (objects < plan.objects) throw new Error(`${subject.label} found ${objects} of ${plan.objects} objects`);
      outcomes.get(subject.id)?.push(outcome);
    }
  }
  const results = (value: (outcome: Outcome) => number): readonly SubjectResult[] =>
    subjects.map((subject) =>
      'command' in subject ? measured(subject.id, subject.label, (outcomes.get(subject.id) ?? []).map(value)) : subject,
    );
  const count = plan.objects.toLocaleString('en-US');
  return [
    measure(
      'cold-sync-time',
      `cold sync of ${count} ConfigMaps`,
      'ms',
      results(({ report }) => numberIn(report, 'syncMs')),
      [{ id: 'cold-sync-time-bare', subject: 'bowline', against: 'bare', bound: 'at most', limit: 1.3 }],
    ),
    measure(
      'cold-sync-peak',
      `peak memory of that sync`,
      'MB',
      results(({ memory }) => memory.peakMb),
      [
        { id: 'cold-sync-peak-go', subject: 'bowline', against: 'controller-runtime', bound: 'at most', limit: 1 },
        { id: 'cold-sync-peak-client-node', subject: 'bowline', against: 'client-node', bound: 'at most', limit: 0.5 },
      ],
    ),
    measure(
      'cold-sync-from-start',
      'process start to synced',
      'ms',
      results(({ sinceStartMs }) => sinceStartMs),
      [],
    ),
    measure(
      'cold-sync-after',
      'memory after that sync',
      'MB',
      results(({ memory }) => memory.currentMb),
      [],
    ),
  ];
}

function coldSyncSubjects(scene: Scene): readonly (Subject | LeftOutSubject)[] {
  const args = subjectArguments(scene);
  const bowline = scene.command('bowline-sync');
  const bare = scene.command('bare-sync');
  return [
    { id: 'bowline', label: 'Bowline informer', command: bowline, args },
    {
      id: 'bowline-small-nursery',
      label: `Bowline informer, ${smallNursery.join(' ')}`,
      command: withNodeFlags(bowline, smallNursery),
      args,
    },
    { id: 'bare', label: 'bare node:http2 loop', command: bare, args },
    {
      id: 'bare-small-nursery',
      label: `bare node:http2 loop, ${smallNursery.join(' ')}`,
      command: withNodeFlags(bare, smallNursery),
      args,
    },
    peerSubject('controller-runtime', 'controller-runtime cache', scene.controllerRuntime, [
      '-kubeconfig',
      scene.kubeconfig,
    ]),
    peerSubject('client-node', '@kubernetes/client-node informer', scene.clientNode, [scene.kubeconfig]),
  ];
}

function peerSubject(id: string, label: string, peer: Peer, args: readonly string[]): Subject | LeftOutSubject {
  return 'leftOut' in peer ? { id, label, leftOut: peer.leftOut } : { id, label, command: peer.command, args };
}

function measure(
  id: string,
  title: string,
  unit: Unit,
  subjects: readonly SubjectResult[],
  targets: readonly Target[],
): Measure {
  return { id, title, unit, subjects, targets: targets.map((target) => judge(target, subjects, whyMissed(target.id))) };
}
