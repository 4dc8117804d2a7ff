import { ConfigMap } from '@bowline/kubernetes';
import { VirtualClock } from '@bowline/machinery';
import { expect, it } from 'vitest';
import { createClient } from '../client/create-client.ts';
import { ScriptedTransport } from '../client/scripted-transport.test-support.ts';
import { operatorIdentity } from '../identity/operator-identity.ts';
import { silentLog } from '../observability/log.ts';
import type { Deletion } from '../writing/deletion.ts';
import { WriteMemo } from '../writing/write-memo.ts';
import { Run } from './run.ts';
import { RunContext } from './run-context.ts';

const key = { namespace: 'default', name: 'a' };

/** contextOf returns the context of a run whose cache has every object of the namespace except this one. */
function contextOf(deletion?: Deletion) {
  const absent = { status: 404, body: { kind: 'Status', reason: 'NotFound', code: 404, details: { name: 'a' } } };
  const transport = new ScriptedTransport(absent);
  const shared = {
    reads: { get: () => undefined, list: () => [], isServed: () => true },
    clock: new VirtualClock(),
    deps: undefined,
    client: createClient({ transport }),
    recorder: { recordWrite: () => undefined, recordDelete: () => undefined },
    logOf: () => silentLog,
    enqueue: () => undefined,
    fieldManager: 'm',
    identity: operatorIdentity({ name: 'op', domain: 'bowline.dev' }),
    lookup: () => ({ object: undefined, isComplete: true }),
    writeMemo: new WriteMemo(),
    checkWrite: () => undefined,
    checkName: () => undefined,
    lookUpContent: () => undefined,
    primary: ConfigMap,
    reports: [],
  };
  const run = new Run({ key: 'default/owner', priority: 0, failures: 0, causes: [], droppedCauses: 0 }, 'r-1', 0);
  const object = { metadata: { namespace: 'default', name: 'owner', uid: 'o' } };
  return { context: new RunContext(shared, run, key, object, deletion), transport };
}

it('treats an object missing from the cache as gone, except in a cleanup, which is not repeated', async () => {
  const reconciling = contextOf();
  expect(await reconciling.context.remove(ConfigMap, key)).toEqual({ outcome: 'absent' });
  expect(reconciling.transport.requests).toHaveLength(0);
  const cleaning = contextOf({ at: 0, mode: 'background' });
  expect(await cleaning.context.remove(ConfigMap, key)).toEqual({ outcome: 'absent' });
  expect(cleaning.transport.requests.map(({ method }) => method)).toEqual(['GET']);
});
