import { cluster } from '@bowline/control-plane/testing';
import { ConfigMap } from '@bowline/kubernetes';
import { VirtualClock } from '@bowline/machinery';
import { silentLog } from '@bowline/runtime/manager';
import { expect, it, vi } from 'vitest';
import { objectNames } from '../../api/names.ts';
import { ChangeSender, POLL_MS } from './change-sender.ts';

const waiting = { timeout: 20_000, interval: 20 };

it('sends one part at a time, and waits for other gateways and for the controller', async () => {
  await using c = await cluster();
  const name = objectNames('plant').changes;
  const key = { namespace: c.namespace, name };
  await c.admin.create(ConfigMap, { metadata: key });
  // What the Role of an agent allows.
  const { client } = await c.serviceAccount({
    rules: [{ apiGroups: [''], resources: ['configmaps'], resourceNames: [name], verbs: ['get', 'patch'] }],
  });
  const clock = new VirtualClock();
  const dataIs = (data: object | undefined): Promise<void> =>
    vi.waitFor(async () => {
      await clock.advance(POLL_MS);
      expect((await c.admin.get(ConfigMap, key)).data).toEqual(data);
    }, waiting);
  const remove = (gateway: string): Promise<unknown> =>
    c.admin.patch(ConfigMap, key, { type: 'merge', body: { data: { [gateway]: null } } });
  const stop = new AbortController();
  const senderOf = () => new ChangeSender({ client, namespace: c.namespace, cr: 'plant', clock, log: silentLog });
  const first = senderOf().send('site', ['one', 'two'], stop.signal);
  await dataIs({ site: 'one' });
  const second = senderOf().send('area', ['three'], stop.signal);
  await clock.advance(3 * POLL_MS);
  await remove('site');
  // Either of the two may be next.
  const order: string[] = [];
  for (let count = 0; count < 2; count++) {
    const sent = await vi.waitFor(async () => {
      await clock.advance(POLL_MS);
      const [entry] = Object.entries((await c.admin.get(ConfigMap, key)).data ?? {});
      expect(entry).toBeDefined();
      return { gateway: entry?.[0] ?? '', part: entry?.[1] ?? '' };
    }, waiting);
    order.push(`${sent.gateway} ${sent.part}`);
    await remove(sent.gateway);
  }
  expect(order.toSorted()).toEqual(['area three', 'site two']);
  await vi.waitFor(async () => {
    await clock.advance(POLL_MS);
    await Promise.all([first, second]);
  }, waiting);
}, 60_000);

it('ends when it is aborted', async () => {
  await using c = await cluster();
  const clock = new VirtualClock();
  const stop = new AbortController();
  const sender = new ChangeSender({ client: c.admin, namespace: c.namespace, cr: 'missing', clock, log: silentLog });
  const sending = sender.send('site', ['one'], stop.signal);
  stop.abort(new Error('stopped'));
  await expect(sending).rejects.toThrow('stopped');
});
