import { type Cluster, cluster } from '@bowline/control-plane/testing';
import { ConfigMap, Pod, Role, Secret } from '@bowline/kubernetes';
import { Event } from '@bowline/kubernetes/events-v1';
import { isForbidden } from '@bowline/runtime/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { agentRules } from '../agent-access/agent-role.ts';
import { IgnitionSync } from '../api/ignition-sync.ts';
import { objectNames } from '../api/names.ts';
import { minimal } from '../api/specs.test-support.ts';

const CR = 'plant';
const names = objectNames(CR);

let c: Cluster;
beforeAll(async () => {
  c = await cluster({ prefix: 'agent-permissions' });
  for (const name of [names.metadata, names.status, names.changes])
    await c.admin.create(ConfigMap, { metadata: key(name) });
});
afterAll(() => c[Symbol.asyncDispose]());

const key = (name: string) => ({ namespace: c.namespace, name });

it('grants agents nothing else: no Secrets, pods, IgnitionSyncs, or ConfigMaps of others', async () => {
  const { client } = await c.serviceAccount({ rules: agentRules(CR) });
  const metadata = key('others');
  const refused: readonly [string, () => Promise<unknown>][] = [
    ['list Secrets', () => client.list(Secret, { namespace: c.namespace })],
    ['read a Secret', () => client.get(Secret, metadata)],
    ['list pods', () => client.list(Pod, { namespace: c.namespace })],
    ['read the IgnitionSync', () => client.get(IgnitionSync, key(CR))],
    [
      'create an IgnitionSync',
      () => client.create(IgnitionSync, IgnitionSync.withDefaults({ metadata, spec: minimal() })),
    ],
    ['list all ConfigMaps', () => client.list(ConfigMap, { namespace: c.namespace })],
    ['read another ConfigMap', () => client.get(ConfigMap, metadata)],
    ['create a ConfigMap', () => client.create(ConfigMap, { metadata })],
    [
      'change what agents are told',
      () => client.patch(ConfigMap, key(names.metadata), { type: 'merge', body: { data: { commit: 'x' } } }),
    ],
    ['list all reports with the others', () => client.list(ConfigMap, named(names.status))],
    ['delete the reports', () => client.delete(ConfigMap, key(names.status))],
    ['read its own Role', () => client.get(Role, key(names.agent))],
    ['list events', () => client.list(Event, { namespace: c.namespace })],
  ];
  for (const [what, attempt] of refused) {
    const error: unknown = await attempt().then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(isForbidden(error), what).toBe(true);
  }
});

const named = (name: string) => ({ namespace: c.namespace, fieldSelector: `metadata.name=${name}` });
