import { cluster } from '@bowline/control-plane/testing';
import { ConfigMap } from '@bowline/kubernetes';
import { systemClock } from '@bowline/machinery';
import { silentLog } from '@bowline/runtime';
import { expect, it } from 'vitest';
import { desiredCopy } from './desired-copy.ts';
import { ownerText } from './ownership.ts';
import { type Wish, writeCopy } from './write-copy.ts';

it('recreates an immutable copy with Merge only when something is to be written, and names what is in conflict', async () => {
  await using c = await cluster({ prefix: 'copy' });
  const target = { namespace: c.namespace, name: 'copy', selected: false };
  const sync = { metadata: { namespace: 'team', name: 'sync', uid: 'u' } };
  const tools = {
    client: c.admin,
    fieldManager: 'test',
    clock: systemClock,
    log: silentLog,
    find: () => undefined,
  };
  const write = (data: Readonly<Record<string, string>>) => {
    const source = { metadata: { namespace: 'team', name: 'source', uid: 's' }, content: { data, binaryData: {} } };
    const desired = desiredCopy(sync, source, source.content, { labels: {}, annotations: {} });
    const owner = ownerText({ namespace: 'team', name: 'sync' });
    const rules = { owner, uid: 'u', isAlive: () => true, adoptExisting: true, isForced: false } as const;
    const wish: Wish = { desired, rules: { ...rules, policy: 'Merge' } };
    return writeCopy(tools, target, wish);
  };
  const patch = (body: object) => c.admin.patch(ConfigMap, target, { type: 'merge', body });
  expect(await write({ a: '1' })).toMatchObject({ deed: 'created' });
  await patch({ data: { b: 'theirs' }, immutable: true });

  const conflict = { state: 'Conflict', reason: 'KeyConflict' };
  expect(await write({ a: '2', b: 'ours' })).toMatchObject({ deed: 'recreated', obstacle: conflict });
  const { data, metadata } = await patch({ immutable: true });
  expect(data).toEqual({ a: '2', b: 'theirs' });

  expect(await write({ a: '2', b: 'ours' })).toMatchObject({ deed: 'nothing', obstacle: conflict });
  expect((await c.admin.get(ConfigMap, target)).metadata?.uid).toBe(metadata?.uid);
});
