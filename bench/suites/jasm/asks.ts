import { setTimeout as pause } from 'node:timers/promises';
import { type Measure, measured, type Unit } from '../../result.ts';
import { percentile } from '../../statistics.ts';
import { judgedMeasure } from '../../support/rounds.ts';
import { createPod, forceSync, podAt, putSource } from './pods.ts';
import type { JasmScene } from './scene.ts';
import { revision } from './secrets.ts';
import { withSecrets } from './with-secrets.ts';

/** The pause between two actions, as by a user or a pipeline: the effects of the last one are over. */
const betweenMs = 20;
const slowestMs = 5_000;

interface RequestSamples {
  readonly times: number[];
  readonly calls: number[];
}

/**
 * asks measures how long one pod waits while the operator runs and a thousand others have their Secrets: a new pod with its own
 * source, and a forced sync of a pod after its source was changed.
 */
export async function asks(scene: JasmScene): Promise<readonly Measure[]> {
  const { aws, plan, log } = scene;
  const created: RequestSamples = { times: [], calls: [] };
  const forced: RequestSamples = { times: [], calls: [] };
  log(`${plan.asks} new pods, and ${plan.asks} forced syncs`);
  await withSecrets(scene, async (_operator, watch) => {
    const timed = async (asks: RequestSamples, expectedRevision: string, act: () => Promise<void>): Promise<void> => {
      await pause(betweenMs);
      const callsBefore = aws.calls.length;
      const start = performance.now();
      await act();
      asks.times.push((await watch.reached(revision(expectedRevision), 1)) - start);
      asks.calls.push(aws.calls.length - callsBefore);
    };
    for (let ask = 0; ask < plan.asks; ask += 1) {
      const path = `/bench/new-${ask}`;
      aws.put(path, { password: `correct-horse-${ask}`, revision: `new-${ask}` });
      await timed(created, `new-${ask}`, () => createPod(scene, newPod(ask, path)));
    }
    for (let ask = 0; ask < plan.asks; ask += 1) {
      putSource(aws, 0, `forced-${ask}`);
      await timed(forced, `forced-${ask}`, () => forceSync(scene, podAt(0), String(ask)));
    }
  });
  await removePods(scene);
  putSource(aws, 0, 'r1');
  return [
    ...measures('ask', 'pod created until its Secret exists', created),
    ...measures('force', 'value changed and sync forced until the Secret has it', forced),
  ];
}

function measures(id: string, title: string, { times, calls }: RequestSamples): readonly Measure[] {
  const one = (part: string, what: string, unit: Unit, value: number, limit?: number): Measure =>
    judgedMeasure(
      { id: `${id}-${part}`, title: `${title}${what}`, unit, subjects: [measured('bowline', 'Bowline jasm', [value])] },
      limit === undefined ? [] : [{ id: `${id}-${part}`, subject: 'bowline', bound: 'at most', limit }],
    );
  return [
    one('p50', ', p50', 'ms', percentile(times, 0.5)),
    one('slowest', ', slowest', 'ms', Math.max(...times), slowestMs),
    one('calls', ', maximum calls to the store', 'requests', Math.max(...calls), 1),
  ];
}

function newPod(ask: number, path: string) {
  const { namespace } = podAt(ask);
  return { namespace, name: `new-${ask}`, secretName: `new-${ask}-settings`, path };
}

async function removePods({ api, plan }: JasmScene): Promise<void> {
  for (let ask = 0; ask < plan.asks; ask += 1) {
    const { namespace, name } = newPod(ask, '');
    await api.ok('DELETE', `/api/v1/namespaces/${namespace}/pods/${name}?gracePeriodSeconds=0`);
  }
}
