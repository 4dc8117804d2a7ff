import { expect, it } from 'vitest';
import { apiKindsOf, readApiKinds } from './api-kinds.ts';

const entry = (resource: string, kind: string, verbs: readonly string[], scope = 'Namespaced') => ({
  resource,
  responseKind: { kind },
  scope,
  verbs,
});

it('uses the preferred version of every kind, whichever version a reference names', () => {
  const kinds = apiKindsOf([
    { metadata: {}, versions: [{ version: 'v1', resources: [entry('nodes', 'Node', ['get'], 'Cluster')] }] },
    {
      metadata: { name: 'example.test' },
      versions: [
        { version: 'v2', resources: [entry('sites', 'Site', ['delete', 'list'])] },
        {
          version: 'v1',
          freshness: 'Stale',
          resources: [entry('sites', 'Site', ['list']), entry('pages', 'Page', ['list'])],
        },
      ],
    },
  ]);
  expect(kinds.preferred.map(({ resource, verbs }) => [resource.id, resource.scope, ...verbs])).toEqual([
    ['Node.v1.', 'Cluster', 'get'],
    ['Site.v2.example.test', 'Namespaced', 'delete', 'list'],
    ['Page.v1.example.test', 'Namespaced', 'list'],
  ]);
  expect(kinds.find('example.test/v1', 'Site')?.version).toBe('v2');
  expect(kinds.find('v1', 'Node')?.plural).toBe('nodes');
  expect(kinds.find('v1', 'Site')).toBeUndefined();
  expect(kinds.stale).toEqual(['example.test/v1']);
});

it('rejects a server without aggregated discovery', async () => {
  const raw = (): Promise<string> => Promise.resolve('{"kind":"APIGroupList"}');
  await expect(readApiKinds({ raw })).rejects.toMatchObject({ code: 'BOWLINE_WORKLOADS_DISCOVERY' });
});
