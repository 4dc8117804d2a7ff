import { expect, it } from 'vitest';
import { connectDns } from './dns.ts';
import { startDnsServer } from './dns-server.ts';

const { signal } = new AbortController();
const ours = { target: '203.0.113.7', owner: 'our-uid' };

it('creates and updates its own record, and releases it repeatedly', async () => {
  await using server = await startDnsServer();
  const dns = connectDns(server.url);
  expect(await dns.point('a.example.com', ours, signal)).toBe(true);
  expect(await dns.point('a.example.com', ours, signal)).toBe(true);
  await dns.release('a.example.com', ours.owner, signal);
  await dns.release('a.example.com', ours.owner, signal);
  expect(server.records.size).toBe(0);
});

it('neither changes nor releases the record of another owner', async () => {
  await using server = await startDnsServer();
  const dns = connectDns(server.url);
  server.records.set('a.example.com', { target: '198.51.100.9', owner: 'marketing' });
  expect(await dns.point('a.example.com', ours, signal)).toBe(false);
  await dns.release('a.example.com', ours.owner, signal);
  expect(server.records.get('a.example.com')?.owner).toBe('marketing');
});

it('reports a provider that fails or is unavailable as a slow error', async () => {
  const server = await startDnsServer();
  const dns = connectDns(server.url);
  server.failWith = 503;
  const failure = { code: 'BOWLINE_RECONCILE_SLOW', reason: 'DnsUnavailable' };
  const point = () => dns.point('a.example.com', ours, signal);
  await expect(point()).rejects.toMatchObject({ ...failure, message: 'the DNS provider responded with status 503' });
  await server[Symbol.asyncDispose]();
  await expect(point()).rejects.toMatchObject({ ...failure, message: expect.stringContaining('ECONNREFUSED') });
});
