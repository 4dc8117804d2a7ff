import { cluster } from '@bowline/control-plane/testing';
import { ConfigMap, Namespace } from '@bowline/kubernetes';
import { systemClock } from '@bowline/machinery';
import { type Log, silentLog } from '@bowline/runtime';
import { expect, it } from 'vitest';
import { desiredCopy } from './desired-copy.ts';
import { ownerText } from './ownership.ts';
import { writeCopies } from './write-copies.ts';

it('says nothing of a selected namespace whose deletion the cache has yet to show, and something of a named one', async () => {
  await using c = await cluster({ prefix: 'copies' });
  const namespace = await c.createNamespace();
  const held = { namespace, name: 'held' };
  await c.admin.create(ConfigMap, { metadata: { ...held, finalizers: ['example.com/held'] } });
  c.onDispose(() => c.admin.patch(ConfigMap, held, { type: 'merge', body: { metadata: { finalizers: null } } }));
  await c.admin.delete(Namespace, { name: namespace });

  const complaints: string[] = [];
  const log: Log = { ...silentLog, warn: (message) => void complaints.push(message) };
  const tools = { client: c.admin, fieldManager: 'test', clock: systemClock, log, find: () => undefined };
  const sync = { metadata: { namespace: 'team', name: 'sync', uid: 'u' } };
  const source = { metadata: { namespace: 'team', name: 'source', uid: 's' }, content: { data: {}, binaryData: {} } };
  const desired = desiredCopy(sync, source, source.content, { labels: {}, annotations: {} });
  const owner = ownerText({ namespace: 'team', name: 'sync' });
  const rules = {
    owner,
    uid: 'u',
    isAlive: () => true,
    adoptExisting: false,
    isForced: false,
    policy: 'SourceWins',
  } as const;
  const write = (selected: boolean) =>
    writeCopies(
      tools,
      [{ namespace, name: 'copy', selected }],
      { desired, rules },
      {
        limit: 1,
        signal: new AbortController().signal,
      },
    );

  expect(await write(true)).toEqual([]);
  expect(complaints).toEqual([]);
  expect(await write(false)).toMatchObject([{ obstacle: { state: 'Pending', reason: 'NamespaceTerminating' } }]);
});
