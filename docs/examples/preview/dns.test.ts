import { expect, it } from 'vitest';
import { connectDns } from './dns.ts';
import { startDnsServer } from './dns-server.ts';

const { signal } = new AbortController();
const ours = { target: '203.0.113.7', owner: 'our-uid' };

it('points a host that is free or ours, and releases it as often as asked', async () => {
  await using server = await startDnsServer();
  const dns = connectDns(server.url);
  expect(await dns.point('a.example.com', ours, signal)).toBe(true);
  expect(await dns.point('a.example.com', ours, signal)).toBe(true);
  await dns.release('a.example.com', ours.owner, signal);
  await dns.release('a.example.com', ours.owner, signal);
  expect(server.records.size).toBe(0);
});

it('neither takes nor releases what is somebody else’s', async () => {
  await using server = await startDnsServer();
  const dns = connectDns(server.url);
  server.records.set('a.example.com', { target: '198.51.100.9', owner: 'marketing' });
  expect(await dns.point('a.example.com', ours, signal)).toBe(false);
  await dns.release('a.example.com', ours.owner, signal);
  expect(server.records.get('a.example.com')?.owner).toBe('marketing');
});

it('says what is wrong with a provider that fails or is away, and that it takes a while', async () => {
  const server = await startDnsServer();
  const dns = connectDns(server.url);
  server.failWith = 503;
  const failure = { code: 'BOWLINE_RECONCILE_SLOW', reason: 'DnsUnavailable' };
  const point = () => dns.point('a.example.com', ours, signal);
  await expect(point()).rejects.toMatchObject({ ...failure, message: 'the DNS provider answered 503' });
  await server[Symbol.asyncDispose]();
  await expect(point()).rejects.toMatchObject({ ...failure, message: expect.stringContaining('ECONNREFUSED') });
});
