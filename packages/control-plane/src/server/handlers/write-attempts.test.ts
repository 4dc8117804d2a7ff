import { expect, it } from 'vitest';
import { startTestServer } from '../in-process.test-support.ts';

const MAPS = '/api/v1/namespaces/default/configmaps';
const MERGE = { 'content-type': 'application/merge-patch+json' };
const APPLY = { 'content-type': 'application/apply-patch+yaml' };
const APPLIED = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { by: 'us' } };

/** contested starts a server where another client writes to the object during a number of reviews of our requests. */
async function contested(writes: number, passingMs = 0) {
  let left = writes;
  const t = startTestServer({
    admission: [
      {
        name: 'writes-meanwhile',
        async validate({ operation, options }) {
          if (operation === 'CREATE' || (options as { fieldManager?: string }).fieldManager === 'other') return;
          if (left-- <= 0) return;
          await t.clock.advance(passingMs);
          await t.call('PATCH', `${MAPS}/a?fieldManager=other`, { data: { count: `${left}` } }, MERGE);
        },
      },
    ],
  });
  await t.call('POST', MAPS, { metadata: { name: 'a' } });
  return t;
}

it.each([
  ['a merge patch', 'PATCH', { data: { by: 'us' } }, MERGE],
  ['an apply', 'PATCH', APPLIED, APPLY],
  ['an update without a resource version', 'PUT', APPLIED, {}],
  ['a deletion', 'DELETE', undefined, {}],
])('%s succeeds however often the object changes meanwhile', async (_, method, body, headers) => {
  const t = await contested(20);
  const { status } = await t.call(method, `${MAPS}/a?fieldManager=us`, body, headers);
  expect(status).toBe(200);
  const { body: stored } = await t.call('GET', `${MAPS}/a`);
  expect(stored).toMatchObject(method === 'DELETE' ? { code: 404 } : { data: { by: 'us' } });
});

it.each([
  ['a patch', 'PATCH', (resourceVersion: string) => ({ metadata: { resourceVersion } }), MERGE],
  ['a deletion', 'DELETE', (resourceVersion: string) => ({ preconditions: { resourceVersion } }), {}],
])('%s with a resource version fails with a conflict when the object has changed', async (_, method, body, headers) => {
  const t = await contested(1);
  const { metadata } = (await t.call('GET', `${MAPS}/a`)).body;
  const { status } = await t.call(method, `${MAPS}/a`, body(String(metadata?.resourceVersion)), headers);
  expect(status).toBe(409);
});

it('a write ends with a timeout when the object still changes after 34 s', async () => {
  const t = await contested(100, 1_000);
  const { status, body } = await t.call('PATCH', `${MAPS}/a`, { data: { by: 'us' } }, MERGE);
  expect([status, body.reason, body.message]).toEqual([
    504,
    'Timeout',
    'Timeout: request did not complete within requested timeout - context deadline exceeded',
  ]);
});
