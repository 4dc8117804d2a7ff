import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { createCertificateAuthority, issueCertificate, VirtualClock } from '@bowline/machinery';
import { expect, it } from 'vitest';
import { createClient } from '../client/create-client.ts';
import { type ScriptedResponse, ScriptedTransport } from '../client/scripted-transport.test-support.ts';
import { createMetrics } from '../observability/create-metrics.ts';
import { startOperationsServer } from './operations-server.ts';

const known = (username: string): ScriptedResponse => ({
  status: 201,
  body: {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenReview',
    status: { authenticated: true, user: { username } },
  },
});
const may = (allowed: boolean): ScriptedResponse => ({
  status: 201,
  body: { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', status: { allowed } },
});

async function start(options: { answers?: readonly ScriptedResponse[]; folder?: string; wire?: VirtualClock } = {}) {
  const stop = new AbortController();
  const transport = new ScriptedTransport(...(options.answers ?? []));
  const server = await startOperationsServer({
    healthAddress: '0',
    metricsAddress: '127.0.0.1:0',
    live: () => ({ checks: [] }),
    ready: () => ({ checks: [] }),
    metrics: createMetrics({ process: false }),
    metricsSecurity: { client: createClient({ transport }), certificateFolder: options.folder },
    wire: options.wire,
    signal: stop.signal,
  });
  return {
    port: server.metricsPort,
    get: (headers: Record<string, string> = {}) => get(server.metricsPort ?? 0, headers),
    async [Symbol.asyncDispose]() {
      stop.abort();
      await server.stopped;
    },
  };
}

interface HttpResponse {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
  /** The serial number of the server's certificate. */
  readonly serial: string;
}

function get(port: number, headers: Record<string, string>): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path: '/metrics', headers, rejectUnauthorized: false, agent: false };
    request(options, (response) => {
      const serial = (response.socket as TLSSocket).getPeerCertificate().serialNumber;
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => {
        body += text;
      });
      response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, body, serial }));
    })
      .on('error', reject)
      .end();
  });
}

it('serves metrics over TLS to authorized clients, and explains to others what is missing', async () => {
  const unavailable: ScriptedResponse = { status: 500, body: {} };
  const answers = [known('prometheus'), may(true), known('stranger'), may(false), unavailable];
  await using server = await start({ answers });
  const allowed = await server.get({ authorization: 'Bearer a' });
  expect(allowed.status).toBe(200);
  expect(allowed.headers['content-type']).toContain('version=0.0.4');
  const forbidden = await server.get({ authorization: 'Bearer b' });
  expect([forbidden.status, forbidden.body]).toEqual([403, expect.stringContaining('may not get the URL /metrics')]);
  const failed = await server.get({ authorization: 'Bearer c' });
  expect([failed.status, failed.headers['retry-after']]).toEqual([503, '5']);
  const anonymous = await server.get();
  expect([anonymous.status, anonymous.headers['www-authenticate']]).toEqual([401, 'Bearer']);
  await expect(fetch(`http://127.0.0.1:${server.port}/metrics`)).rejects.toThrow();
});

it('serves the certificate of a folder, and a new one if it is valid', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'bowline-metrics-'));
  const authority = await createCertificateAuthority({ commonName: 'test' });
  const write = async (which: readonly ('tls.crt' | 'tls.key')[]): Promise<void> => {
    const made = await issueCertificate({ authority, commonName: 'm', dnsNames: ['m'], usages: ['server'] });
    const texts = { 'tls.crt': made.certificatePem, 'tls.key': made.keyPem };
    for (const name of which) await writeFile(join(folder, name), texts[name]);
  };
  try {
    await expect(start({ folder })).rejects.toMatchObject({
      code: 'BOWLINE_METRICS_CERTIFICATE',
      message: expect.stringContaining('tls.crt is not readable') as unknown,
    });
    await write(['tls.crt', 'tls.key']);
    const wire = new VirtualClock();
    await using server = await start({ folder, wire });
    const before = (await server.get()).serial;
    await write(['tls.crt']);
    await wire.advance(30_000);
    expect((await server.get()).serial).toBe(before);
    await write(['tls.crt', 'tls.key']);
    await expect
      .poll(async () => {
        await wire.advance(30_000);
        return (await server.get()).serial;
      })
      .not.toBe(before);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

it('rejects the address of the probes', async () => {
  const client = createClient({ transport: new ScriptedTransport() });
  const starting = startOperationsServer({
    healthAddress: '127.0.0.1:18099',
    metricsAddress: '127.0.0.1:18099',
    live: () => ({ checks: [] }),
    ready: () => ({ checks: [] }),
    metrics: createMetrics({ process: false }),
    metricsSecurity: { client },
    signal: new AbortController().signal,
  });
  await expect(starting).rejects.toThrow('set metricsAddress to another port');
});
