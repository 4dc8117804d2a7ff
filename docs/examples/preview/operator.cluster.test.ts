import { type Cluster, cluster } from '@bowline/control-plane/testing';
import { Deployment, Ingress, Service } from '@bowline/kubernetes';
import { VirtualClock } from '@bowline/machinery';
import { findCondition } from '@bowline/runtime';
import { expect, it } from 'vitest';
import { type DnsServer, startDnsServer } from './dns-server.ts';
import { previews } from './operator.ts';
import { Preview } from './preview.ts';

/** A corner of the control plane in which the operator runs, under its own account; its time passes when a test says so. */
function start(dns: DnsServer) {
  const clock = new VirtualClock({ startMs: Date.now() });
  return cluster({ operators: [previews], config: { previews: { dnsUrl: dns.url } }, clock, prefix: 'previews' });
}

function create(c: Cluster, name: string, host = name): Promise<Preview> {
  const metadata = { namespace: c.namespace, name };
  return c.admin.create(Preview, Preview.withDefaults({ metadata, spec: { image: `shop:${name}`, host } }));
}

function untilReady(c: Cluster, name: string, status: 'True' | 'False', reason: string): Promise<Preview> {
  return c.until(Preview, { name }, (preview) => {
    const ready = findCondition(preview, 'Ready');
    return ready?.status === status && ready.reason === reason;
  });
}

it('runs a preview, and reports its URL', async () => {
  await using dns = await startDnsServer();
  await using c = await start(dns);
  const held = await c.nodeAgent.pods.hold({});
  const { metadata } = await create(c, 'pr-42');
  await untilReady(c, 'pr-42', 'False', 'Starting');

  await held.release();
  const { status } = await untilReady(c, 'pr-42', 'True', 'Reconciled');
  expect(status?.url).toBe('https://pr-42.preview.example.com');
  expect(dns.records.get('pr-42.preview.example.com')).toEqual({ target: '203.0.113.7', owner: metadata?.uid });
  const key = { namespace: c.namespace, name: 'pr-42' };
  await Promise.all([c.admin.get(Deployment, key), c.admin.get(Service, key), c.admin.get(Ingress, key)]);
});

it('deletes a preview and its DNS record when it expires', async () => {
  await using dns = await startDnsServer();
  await using c = await start(dns);
  await create(c, 'pr-42');
  await untilReady(c, 'pr-42', 'True', 'Reconciled');

  await c.advanceTime(71 * 3_600_000);
  expect(dns.records.size).toBe(1);

  // Two hours: the API server's time, which the creation has, went on a little since the clock was made.
  await c.advanceTime(2 * 3_600_000);
  await c.untilGone(Preview, { name: 'pr-42' });
  expect(dns.records.size).toBe(0);
});

it('keeps a deleted Preview until its DNS record is deleted, while the provider is unavailable', async () => {
  await using dns = await startDnsServer();
  await using c = await start(dns);
  await create(c, 'pr-42');
  await untilReady(c, 'pr-42', 'True', 'Reconciled');

  dns.failWith = 503;
  await c.admin.delete(Preview, { namespace: c.namespace, name: 'pr-42' });
  await untilReady(c, 'pr-42', 'False', 'DnsUnavailable');
  await c.restart();
  await c.idle();
  expect(dns.records.size).toBe(1);

  dns.failWith = undefined;
  await c.advanceTime(300_000);
  await c.untilGone(Preview, { name: 'pr-42' });
  expect(dns.records.size).toBe(0);
});

it('rejects a second Preview with the same host', async () => {
  await using dns = await startDnsServer();
  await using c = await start(dns);
  await create(c, 'pr-42');
  await untilReady(c, 'pr-42', 'True', 'Reconciled');
  await expect(create(c, 'other', 'pr-42')).rejects.toMatchObject({
    code: 'BOWLINE_API_INVALID',
    message: expect.stringContaining('choose another host'),
  });
});

it('does not change a host of another owner, and reports it', async () => {
  await using dns = await startDnsServer();
  dns.records.set('pr-42.preview.example.com', { target: '198.51.100.9', owner: 'marketing' });
  await using c = await start(dns);
  await create(c, 'pr-42');
  await untilReady(c, 'pr-42', 'False', 'HostTaken');
  await c.admin.delete(Preview, { namespace: c.namespace, name: 'pr-42' });
  await c.untilGone(Preview, { name: 'pr-42' });
  expect(dns.records.get('pr-42.preview.example.com')?.owner).toBe('marketing');
});

it('writes nothing when nothing changed, also after a restart', async () => {
  await using dns = await startDnsServer();
  await using c = await start(dns);
  await create(c, 'pr-42');
  const before = await untilReady(c, 'pr-42', 'True', 'Reconciled');
  await c.idle();
  await c.restart();
  await c.idle();
  const after = await c.admin.get(Preview, { namespace: c.namespace, name: 'pr-42' });
  expect(after.metadata?.resourceVersion).toBe(before.metadata?.resourceVersion);
});
