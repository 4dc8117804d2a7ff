import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createMetrics } from '../observability/create-metrics.ts';
import type { HealthReport } from './health.ts';
import { parseListenAddress } from './listen-address.ts';
import { type OperationsServerOptions, startOperationsServer } from './operations-server.ts';

const fine: HealthReport = { checks: [{ name: 'event-loop', ok: true }] };
const anywhere = { healthAddress: '127.0.0.1:0', metricsAddress: '127.0.0.1:0' };

async function start(options: Partial<OperationsServerOptions> = {}) {
  const stop = new AbortController();
  const server = await startOperationsServer({
    ...anywhere,
    live: () => fine,
    ready: () => fine,
    metrics: createMetrics({ process: false }),
    signal: stop.signal,
    ...options,
  });
  return {
    ...server,
    health: (path: string, init?: RequestInit) => fetch(`http://127.0.0.1:${server.healthPort}${path}`, init),
    metrics: (path: string) => fetch(`http://127.0.0.1:${server.metricsPort}${path}`),
    async [Symbol.asyncDispose]() {
      stop.abort();
      await server.stopped;
    },
  };
}

describe('startOperationsServer', () => {
  it('responds to probes in the format of kube-apiserver', async () => {
    const ready: HealthReport = {
      checks: [
        { name: 'leader', ok: true, message: 'standby' },
        { name: 'informers', ok: false, message: 'ConfigMap has not synced' },
      ],
    };
    await using server = await start({ ready: () => ready });
    for (const path of ['/healthz', '/livez']) {
      const answer = await server.health(path);
      expect([answer.status, await answer.text()]).toEqual([200, 'ok']);
    }
    const verbose = await server.health('/livez?verbose');
    expect(await verbose.text()).toBe('[+]event-loop ok\nlivez check passed\n');
    const failed = await server.health('/readyz');
    expect(failed.status).toBe(503);
    expect(await failed.text()).toBe(
      '[+]leader ok: standby\n[-]informers failed: ConfigMap has not synced\nreadyz check failed\n',
    );
  });

  it('fails the startup probe until the process has started, and never again', async () => {
    let isSetUp = false;
    await using server = await start({
      started: () => ({ checks: [{ name: 'setup', ok: isSetUp, message: 'slow' }] }),
    });
    const before = await server.health('/startupz');
    expect([before.status, await before.text()]).toEqual([503, '[-]setup failed: slow\nstartupz check failed\n']);
    isSetUp = true;
    expect((await server.health('/startupz')).status).toBe(200);
    isSetUp = false;
    const after = await server.health('/startupz?verbose');
    expect([after.status, await after.text()]).toEqual([200, '[+]started ok\nstartupz check passed\n']);
  });

  it('passes the startup probe of a process that reports no start', async () => {
    await using server = await start({ ready: () => ({ checks: [{ name: 'informers', ok: false }] }) });
    expect((await server.health('/startupz')).status).toBe(200);
  });

  it('serves metrics and probes on separate addresses or on one', async () => {
    await using apart = await start();
    expect((await apart.metrics('/metrics')).headers.get('content-type')).toContain('version=0.0.4');
    expect((await apart.metrics('/healthz')).status).toBe(404);
    expect((await apart.health('/metrics')).status).toBe(404);
    const free = await freePort();
    await using together = await start({ healthAddress: `127.0.0.1:${free}`, metricsAddress: `127.0.0.1:${free}` });
    expect((await together.health('/metrics')).status).toBe(200);
    expect(together.metricsPort).toBe(together.healthPort);
  });

  it('serves nothing where the address is 0', async () => {
    await using server = await start({ metricsAddress: '0' });
    expect(server.metricsPort).toBeUndefined();
    expect((await server.health('/healthz')).status).toBe(200);
  });

  it('serves only GET and HEAD, and survives a check that throws', async () => {
    await using server = await start({
      ready: () => {
        throw new Error('canary');
      },
    });
    expect((await server.health('/healthz', { method: 'POST', body: 'x' })).status).toBe(405);
    expect((await server.health('/healthz', { method: 'HEAD' })).status).toBe(200);
    const broken = await server.health('/readyz');
    expect(broken.status).toBe(500);
    expect(await broken.text()).not.toContain('canary');
    expect((await server.health('/healthz')).status).toBe(200);
  });

  it('rejects a request whose headers are too large', async () => {
    await using server = await start();
    const answer = await server.health('/healthz', { headers: { padding: 'x'.repeat(10_000) } });
    expect(answer.status).toBe(431);
  });

  it('stops even if a client keeps its connection open', async () => {
    const server = await start();
    const socket = connect(server.healthPort ?? 0, '127.0.0.1');
    await once(socket, 'connect');
    socket.on('error', () => {});
    const closed = once(socket, 'close');
    await server[Symbol.asyncDispose]();
    await closed;
    await expect(server.health('/healthz')).rejects.toThrow();
  });

  it('names the option to change when the address is in use, and leaves nothing open', async () => {
    const other = createServer();
    other.listen(0, '127.0.0.1');
    await once(other, 'listening');
    const taken = `127.0.0.1:${(other.address() as AddressInfo).port}`;
    const free = await freePort();
    await expect(start({ healthAddress: `127.0.0.1:${free}`, metricsAddress: taken })).rejects.toMatchObject({
      code: 'BOWLINE_ADDRESS_IN_USE',
      message: `cannot listen on ${taken}: the address is in use; choose another with metricsAddress`,
    });
    // The health server that was already listening is closed again.
    await using again = await start({ healthAddress: `127.0.0.1:${free}` });
    expect((await again.health('/healthz')).status).toBe(200);
    other.close();
  });

  it('reports a host that is not an address of this machine', async () => {
    await expect(start({ healthAddress: '192.0.2.1:0' })).rejects.toMatchObject({
      code: 'BOWLINE_ADDRESS_UNAVAILABLE',
    });
  });
});

describe('parseListenAddress', () => {
  it.each([
    [':8081', { host: undefined, port: 8081 }],
    ['8081', { host: undefined, port: 8081 }],
    ['127.0.0.1:0', { host: '127.0.0.1', port: 0 }],
    ['[::1]:9', { host: '::1', port: 9 }],
    ['0', undefined],
    ['', undefined],
  ])('reads %j', (text, address) => {
    expect(parseListenAddress(text, 'healthAddress')).toEqual(address);
  });

  it.each([['localhost'], ['::1:80'], [':70000'], ['a:b'], ['http://x:80'], [':-1']])('refuses %j', (text) => {
    expect(() => parseListenAddress(text, 'healthAddress')).toThrow(
      expect.objectContaining({ code: 'BOWLINE_ADDRESS_INVALID' }),
    );
  });
});

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
