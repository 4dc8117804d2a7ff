import { generateKeyPairSync, verify } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { VirtualClock } from '@bowline/machinery';
import { describe, expect, it, vi } from 'vitest';
import { AppTokens, type GitHubApp } from './app-tokens.ts';

const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const PKCS1 = privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();
const PKCS8 = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const waiting = { timeout: 20_000, interval: 10 };

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** github is an API that issues tokens for one hour, unless a test replaces the handler. */
async function github(clock: VirtualClock) {
  const requests: IncomingMessage[] = [];
  const state: { handle: Handler } = {
    handle: (_request, response) => {
      const expiresAt = new Date(clock.now() + 3_600_000).toISOString();
      response.writeHead(201).end(JSON.stringify({ token: `ghs_${requests.length}`, expires_at: expiresAt }));
    },
  };
  const server = createServer((request, response) => {
    requests.push(request);
    state.handle(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const apiBaseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const app: GitHubApp = { appId: 42, installationId: 7, privateKey: PKCS1, apiBaseUrl };
  return Object.assign(state, {
    requests,
    app,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}

it.each([
  ['PKCS #1', PKCS1],
  ['PKCS #8', PKCS8],
])('proves the identity of the App with a key in %s', async (_name, key) => {
  const clock = new VirtualClock();
  await using api = await github(clock);
  const tokens = new AppTokens({ clock });
  expect(await tokens.token({ ...api.app, privateKey: key })).toEqual({
    token: 'ghs_1',
    expiresAtMs: clock.now() + 3_600_000,
  });
  const [request] = api.requests;
  expect([request?.method, request?.url]).toEqual(['POST', '/app/installations/7/access_tokens']);
  const [header = '', claims = '', signature = ''] = (request?.headers.authorization ?? '')
    .slice('Bearer '.length)
    .split('.');
  const isValid = verify('sha256', Buffer.from(`${header}.${claims}`), publicKey, Buffer.from(signature, 'base64url'));
  expect(isValid).toBe(true);
  const nowS = clock.now() / 1_000;
  expect(JSON.parse(Buffer.from(header, 'base64url').toString())).toEqual({ alg: 'RS256', typ: 'JWT' });
  expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toEqual({
    iat: nowS - 60,
    exp: nowS + 600,
    iss: '42',
  });
});

it('exchanges one token for all callers, and renews it 5 minutes before it expires', async () => {
  const clock = new VirtualClock();
  await using api = await github(clock);
  const tokens = new AppTokens({ clock });
  const all = await Promise.all(Array.from({ length: 10 }, () => tokens.token(api.app)));
  expect(new Set(all.map(({ token }) => token))).toEqual(new Set(['ghs_1']));
  await clock.advance(3_299_999);
  expect((await tokens.token(api.app)).token).toBe('ghs_1');
  await clock.advance(1);
  expect((await tokens.token(api.app)).token).toBe('ghs_2');
  // Another installation, and another key, have their own.
  expect((await tokens.token({ ...api.app, installationId: 8 })).token).toBe('ghs_3');
  expect((await tokens.token({ ...api.app, privateKey: PKCS8 })).token).toBe('ghs_4');
});

describe('errors', () => {
  it('is Timeout when the API does not respond within 30 s, and the next call tries again', async () => {
    const clock = new VirtualClock();
    await using api = await github(clock);
    const issue = api.handle;
    api.handle = () => undefined;
    const tokens = new AppTokens({ clock });
    const failed = tokens.token(api.app).catch((error: unknown) => error);
    await vi.waitFor(() => expect(api.requests.length).toBe(1), waiting);
    await clock.advance(30_000);
    expect(await failed).toMatchObject({ reason: 'Timeout' });
    api.handle = issue;
    expect((await tokens.token(api.app)).token).toBe('ghs_2');
  });

  it.each([
    [401, 'AuthenticationFailed'],
    [404, 'AuthenticationFailed'],
    [302, 'Redirected'],
    [500, 'HostUnreachable'],
    [200, 'HostUnreachable'],
  ])('classifies the status %s as %s, without the text of the server', async (status, reason) => {
    const clock = new VirtualClock();
    await using api = await github(clock);
    api.handle = (_request, response) => response.writeHead(status, { location: 'http://canary/' }).end('canary');
    const error = await new AppTokens({ clock }).token(api.app).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ reason, message: expect.not.stringContaining('canary') });
    expect(api.requests.length).toBe(1);
  });

  it('refuses a response that is too large or has no token', async () => {
    const clock = new VirtualClock();
    await using api = await github(clock);
    api.handle = (_request, response) => response.writeHead(201).end('x'.repeat(100_000));
    await expect(new AppTokens({ clock }).token(api.app)).rejects.toMatchObject({ reason: 'TooLarge' });
    api.handle = (_request, response) =>
      response.writeHead(201).end('{"token":"a\\nb","expires_at":"2026-01-01T00:00:00Z"}');
    await expect(new AppTokens({ clock }).token(api.app)).rejects.toMatchObject({ reason: 'GitFailed' });
  });

  it('refuses a key that is not RSA, and an API without encryption', async () => {
    const tokens = new AppTokens();
    const app = { appId: 1, installationId: 1, privateKey: 'canary' };
    const error = await tokens.token(app).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ reason: 'AuthenticationFailed', message: expect.not.stringContaining('canary') });
    await expect(tokens.token({ ...app, apiBaseUrl: 'http://api.example.com' })).rejects.toMatchObject({
      reason: 'ProtocolRefused',
    });
  });
});
