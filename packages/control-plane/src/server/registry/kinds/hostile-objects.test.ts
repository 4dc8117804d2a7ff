import { integerBelow, pick, type Random, seededRandom } from '@bowline/machinery';
import { describe, expect, it } from 'vitest';
import { startTestServer } from '../../in-process.test-support.ts';
import { WORKLOAD_CASES } from './apps/workload-cases.test-support.ts';
import { OTHER_CASES } from './batch/job-cases.test-support.ts';
import type { Step } from './compare-kinds.test-support.ts';
import { POD_CASES } from './core/pod/pod-cases.test-support.ts';
import { POD_LIFECYCLE_CASES } from './core/pod/pod-lifecycle-cases.test-support.ts';

const RUNS = 300;
const HOSTILE = [null, {}, [], [null], '', 'x', '-1', '__proto__', ' ', 0, -1, 1.5, 2 ** 53, true, { a: {} }];
const TABLE = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };
const MERGE = { 'content-type': 'application/merge-patch+json' };
const POD = '/api/v1/namespaces/default/pods/a';

const steps: Step[] = [...POD_CASES, ...WORKLOAD_CASES, ...OTHER_CASES, ...POD_LIFECYCLE_CASES].flatMap(
  ([, ...all]) => all,
);
const created = steps.filter(
  ([method, path]) => method === 'POST' && /[a-z]\?dryRun/.test(path) && !path.includes('/pods/'),
);
const statuses = steps.filter(([method, path]) => method === 'PATCH' && path.endsWith('/status'));

/** spoiled returns a document with one part replaced by a hostile value. */
function spoiled(value: unknown, random: Random): unknown {
  if (typeof value !== 'object' || value === null || random.next() < 0.15) return pick(random, HOSTILE.slice(1));
  if (Array.isArray(value)) {
    const at = integerBelow(random, value.length + 1);
    return [...value.slice(0, at), random.next() < 0.2 ? null : spoiled(value[at], random), ...value.slice(at + 1)];
  }
  const name = pick(random, [...Object.keys(value), '__proto__', 'constructor']);
  const copy = Object.fromEntries(Object.entries(value));
  const old: unknown = Object.hasOwn(copy, name) ? copy[name] : undefined;
  Object.defineProperty(copy, name, { value: spoiled(old, random), enumerable: true });
  return copy;
}

// The test server throws internal errors instead of returning them, so they fail these tests.
describe('random input', () => {
  it('as an object is accepted or refused without an internal error, and displayed', async () => {
    const t = startTestServer();
    const random = seededRandom(7);
    const codes = new Set<number>();
    for (let run = 0; run < RUNS; run++) {
      const [, path, body] = pick(random, created);
      const headers = run % 2 === 0 ? TABLE : {};
      const sent = JSON.stringify(spoiled(spoiled(body, random), random));
      codes.add((await t.call('POST', path.replaceAll('NS', 'default'), sent, headers)).status);
    }
    expect([...codes].sort()).toEqual([201, 400, 422]);
  });

  it('as the status of a pod is accepted or refused without an internal error, and displayed', async () => {
    const t = startTestServer();
    const random = seededRandom(8);
    const codes = new Set<number>();
    await t.call('POST', '/api/v1/namespaces/default/pods', {
      metadata: { name: 'a' },
      spec: { nodeName: 'n', containers: [{ name: 'c', image: 'i' }], initContainers: [{ name: 'i', image: 'i' }] },
    });
    for (let run = 0; run < RUNS; run++) {
      const [, , body] = pick(random, statuses);
      const { status } = body as { readonly status: object };
      const sent = JSON.stringify({ status: spoiled(status, random) });
      codes.add((await t.call('PATCH', `${POD}/status`, sent, MERGE)).status);
      codes.add((await t.call('GET', POD, undefined, TABLE)).status);
    }
    expect([...codes].sort()).toEqual([200, 422]);
  });
});
