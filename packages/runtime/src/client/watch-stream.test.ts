import { ConfigMap } from '@bowline/kubernetes';
import { expect, test } from 'vitest';
import type { UnexpectedWatchEvent, WatchEvent, WatchOptions } from './client.ts';
import { createClient } from './create-client.ts';
import { ScriptedTransport } from './scripted-transport.test-support.ts';

function line(type: string, name: string, more: object = {}): string {
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'ns' }, ...more };
  return `${JSON.stringify({ type, object })}\n`;
}

/** batchesOf collects the names per batch, and the error that ended the stream. */
async function batchesOf(
  chunks: readonly (string | Uint8Array)[],
  options?: WatchOptions,
): Promise<{ batches: string[][]; error: unknown; events: WatchEvent<ConfigMap>[] }> {
  const client = createClient({ transport: new ScriptedTransport({ body: chunks }) });
  const stream = await client.watch(ConfigMap, options);
  const batches: string[][] = [];
  const events: WatchEvent<ConfigMap>[] = [];
  try {
    for await (const batch of stream.batches()) {
      events.push(...batch);
      batches.push(batch.map((event) => `${event.type} ${event.object.metadata?.name}`));
    }
    return { batches, error: undefined, events };
  } catch (error) {
    return { batches, error, events };
  }
}

test('returns the events of one chunk as one batch, and one at a time when iterated', async () => {
  const body = [line('ADDED', 'a') + line('MODIFIED', 'b'), line('DELETED', 'c')];
  expect((await batchesOf(body)).batches).toEqual([['ADDED a', 'MODIFIED b'], ['DELETED c']]);
  const client = createClient({ transport: new ScriptedTransport({ body }) });
  const names: unknown[] = [];
  const stream = await client.watch(ConfigMap);
  for await (const event of stream) names.push(event.object.metadata?.name);
  expect(names).toEqual(['a', 'b', 'c']);
  expect(stream.aliveAt()).toBe(7);
});

test('decodes an event wherever its bytes are split', async () => {
  const bytes = Buffer.from(line('ADDED', 'a', { data: { text: 'über \u{1F680}' } }));
  for (let cut = 1; cut < bytes.length; cut += 7) {
    const { events } = await batchesOf([bytes.subarray(0, cut), bytes.subarray(cut)]);
    expect(events.map((event) => event.object.data)).toEqual([{ text: 'über \u{1F680}' }]);
  }
});

test('throws the error of an ERROR event after yielding the events before it', async () => {
  const status = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' };
  const { batches, error } = await batchesOf([
    `${line('ADDED', 'a')}${JSON.stringify({ type: 'ERROR', object: status })}\n${line('ADDED', 'b')}`,
  ]);
  expect(batches).toEqual([['ADDED a']]);
  expect(error).toMatchObject({ name: 'ApiError', code: 'BOWLINE_API_EXPIRED', status: 410 });
});

test.each([
  ['a truncated line', [line('ADDED', 'a'), line('ADDED', 'canary-name').slice(0, -5)]],
  ['a corrupt line', [line('ADDED', 'a'), '{"type":"ADDED","object":{"data":canary}}\n', line('ADDED', 'b')]],
  ['a line that is not an event', [line('ADDED', 'a'), '"canary"\n']],
  ['a line without end', [line('ADDED', 'a'), 'canary'.repeat(3_000_000)]],
])('fails on %s after yielding the events before it, without quoting the line', async (_, chunks) => {
  const { batches, error } = await batchesOf(chunks);
  expect(batches).toEqual([['ADDED a']]);
  expect(error).toMatchObject({ code: 'BOWLINE_WATCH_DECODE', retryable: true });
  expect(String(error)).toContain('ConfigMap');
  expect(`${String(error)} ${String((error as Error).cause)}`).not.toContain('canary');
});

test('accepts a last line without a newline', async () => {
  expect((await batchesOf([line('ADDED', 'a').trimEnd()])).batches).toEqual([['ADDED a']]);
});

test('skips and reports unknown event types and other kinds', async () => {
  const seen: UnexpectedWatchEvent[] = [];
  const table = JSON.stringify({ type: 'ADDED', object: { kind: 'Table', apiVersion: 'meta.k8s.io/v1', rows: [] } });
  const { batches } = await batchesOf([`${table}\n`, line('SOMETHING', 'x'), line('ADDED', 'a')], {
    onUnexpected: (event) => seen.push(event),
  });
  expect(batches).toEqual([['ADDED a']]);
  expect(seen).toEqual([
    { problem: 'kind', type: 'ADDED', apiVersion: 'meta.k8s.io/v1', kind: 'Table' },
    { problem: 'type', type: 'SOMETHING', apiVersion: 'v1', kind: 'ConfigMap' },
  ]);
});

test('sets kind and apiVersion of objects that are received as metadata only', async () => {
  const partial = { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1' };
  const { events } = await batchesOf([line('ADDED', 'a', partial)], { metadataOnly: true });
  expect(events[0]?.object).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a' } });
});
