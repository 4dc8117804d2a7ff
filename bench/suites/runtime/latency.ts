import { setTimeout as pause } from 'node:timers/promises';
import { type Measure, measured, type SubjectResult } from '../../result.ts';
import { Api } from '../../support/api.ts';
import { createConfigMaps, createNamespaces, sampleConfigMap } from '../../support/config-maps.ts';
import { judgedMeasure } from '../../support/rounds.ts';
import { numberIn, subjectArguments } from '../../support/run-subject.ts';
import { SubjectProcess } from '../../support/subject-process.ts';
import type { RuntimeScene } from './scene.ts';

const namespace = 'bench-latency';
/** Enough that no object changes again before its reconcile has started: every update must be observed separately. */
const objects = 200;

/**
 * latency measures when a reconcile observes a change, compared with a raw watch in the same process. Both are timed from the
 * moment the harness sends the write, at a steady rate well below the server's capacity: the server serves the two watches in no
 * fixed order, so the difference per event would mostly show that order.
 */
export async function latency(scene: RuntimeScene): Promise<readonly Measure[]> {
  const { plan } = scene;
  await using api = new Api(scene.connection);
  await createNamespaces(api, [namespace]);
  await createConfigMaps(api, objects, [namespace]);
  const reports: Readonly<Record<string, unknown>>[] = [];
  for (let round = 0; round < plan.latencyRounds; round += 1) {
    scene.log(`event to reconcile, ${plan.updates} updates, round ${round + 1} of ${plan.latencyRounds}`);
    const args = subjectArguments(scene, { namespace, objects, updates: plan.updates });
    await using subject = new SubjectProcess(scene.command('bowline-latency'), args);
    await subject.next(60_000);
    await update(api, plan.updates, plan.updatesPerSecond, round);
    const report = await subject.next(60_000);
    const seen = numberIn(report, 'samples');
    if (seen < plan.updates * 0.99)
      throw new Error(`only ${seen} of ${plan.updates} updates were reconciled one by one`);
    reports.push(report);
  }
  const subjects = (percentile: string): readonly SubjectResult[] => [
    measured('bowline', 'Bowline reconcile starts', each(reports, `reconcile${percentile}Ms`)),
    measured('raw', 'raw watch received the bytes', each(reports, `raw${percentile}Ms`)),
  ];
  return [
    judgedMeasure({
      id: 'latency-p50',
      title: 'write sent to reconcile start, p50',
      unit: 'ms',
      subjects: subjects('P50'),
    }),
    judgedMeasure(
      { id: 'latency-p99', title: 'write sent to reconcile start, p99', unit: 'ms', subjects: subjects('P99') },
      [{ id: 'latency-p99', subject: 'bowline', against: 'raw', by: 'difference', bound: 'at most', limit: 5 }],
    ),
  ];
}

function each(reports: readonly Readonly<Record<string, unknown>>[], field: string): readonly number[] {
  return reports.map((report) => numberIn(report, field));
}

/** update changes the objects one after the other at a steady rate, without waiting for responses. */
async function update(api: Api, count: number, perSecond: number, round: number): Promise<void> {
  const start = performance.now();
  const answers: Promise<string>[] = [];
  for (let index = 0; index < count; index += 1) {
    const dueMs = start + (index * 1_000) / perSecond - performance.now();
    if (dueMs > 0) await pause(dueMs);
    const { name } = sampleConfigMap(index % objects, namespace).metadata;
    const path = `/api/v1/namespaces/${namespace}/configmaps/${name}?fieldManager=bowline-bench`;
    const patch = {
      data: { sequence: `${round}-${index}`, sentMs: String(performance.timeOrigin + performance.now()) },
    };
    answers.push(api.ok('PATCH', path, patch, 'application/merge-patch+json'));
  }
  await Promise.all(answers);
}
