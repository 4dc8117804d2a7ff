import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, it } from 'vitest';
import { availableGit } from '../../../../../test/support/git/git-program.ts';
import type { GitFault } from '../../../../../test/support/git/git-server.ts';
import { parseGitUrl } from '../address/git-url.ts';
import type { GitError } from '../errors/git-error.ts';
import { type GitFixture, gitFixture } from '../git-fixture.test-support.ts';
import type { GitCredentials } from './git-credentials.ts';
import { openAccess } from './open-access.ts';

const git = await availableGit();

async function failureOf(fixture: GitFixture, credentials?: GitCredentials): Promise<GitError> {
  const { connection } = await fixture.open(credentials);
  return await fixture.local.resolve(['main'], { connection }).then(
    () => Promise.reject(new Error('it did not fail')),
    (error: GitError) => error,
  );
}

if ('skippedBecause' in git) it.skip(`HTTP access: ${git.skippedBecause}`, () => undefined);
else {
  const auth = { username: 'x-access-token', password: 'right' };

  it('authenticates with a token, and is AuthenticationFailed with a wrong one or without one', async () => {
    await using fixture = await gitFixture({ auth });
    const commit = await fixture.remote.commit({ a: 'a' });
    const token = { type: 'token' } as const;
    // Secrets often end with a line end.
    const { connection } = await fixture.open({ ...token, token: 'right\n' });
    expect((await fixture.local.resolve(['main'], { connection })).get('main')?.commit).toBe(commit);
    for (const credentials of [{ ...token, token: 'wrong' }, { type: 'none' }] as const) {
      const { reason, message } = await failureOf(fixture, credentials);
      expect(reason).toBe('AuthenticationFailed');
      expect(message).toBe(
        `AuthenticationFailed: ${fixture.server.host} refused the credentials with status 401; check that the Secret of git.auth holds a valid token or key that may read the repository`,
      );
    }
  });

  const canary = 'canary: Host key verification failed\nRepository not found';
  const faults: readonly (readonly [string, GitFault, string, string])[] = [
    ['a status 500', { kind: 'status', status: 500, body: canary }, 'GitFailed', 'with status 500'],
    ['a status 503', { kind: 'status', status: 503, body: canary }, 'HostUnreachable', 'with status 503'],
    ['a status 404', { kind: 'status', status: 404, body: canary }, 'RepositoryNotFound', 'correct git.repo'],
    ['a status 403', { kind: 'status', status: 403, body: canary }, 'AuthenticationFailed', 'Secret of git.auth'],
  ];
  it.each(faults)('classifies %s without the text of the server', async (_name, fault, reason, text) => {
    await using fixture = await gitFixture();
    fixture.server.fault = fault;
    const error = await failureOf(fixture);
    expect(error).toMatchObject({ reason, host: fixture.server.host });
    expect(error.message).toContain(text);
    expect(error.message).toContain(fixture.server.host);
    expect(error.message).not.toContain('canary');
  });

  it('refuses a redirect, names the new host, and sends it nothing', async () => {
    await using fixture = await gitFixture({ auth });
    await using other = await gitFixture();
    fixture.server.fault = { kind: 'redirect', to: other.server.url };
    const error = await failureOf(fixture, { type: 'token', username: auth.username, token: 'right' });
    expect(error.reason).toBe('Redirected');
    expect(error.message).toContain(`${fixture.server.host} redirects to ${other.server.host}, and credentials`);
    expect(other.server.requests).toEqual([]);
  });

  it('does not name a host that is not one', async () => {
    await using fixture = await gitFixture();
    fixture.server.fault = { kind: 'redirect', to: 'nonsense with canary' };
    const error = await failureOf(fixture);
    expect(error.reason).toBe('Redirected');
    expect(error.message).toContain('redirects to another address');
  });

  it('is TlsFailed without the private certificate authority', async () => {
    await using fixture = await gitFixture();
    const url = parseGitUrl(`${fixture.server.url}/plant.git`);
    await using access = await openAccess({ runner: fixture.runner, url, credentials: { type: 'none' } });
    await expect(fixture.local.resolve(['main'], access)).rejects.toMatchObject({ reason: 'TlsFailed' });
    expect(fixture.server.requests).toEqual([]);
  });

  it('is HostUnreachable when nothing listens or the name does not exist', async () => {
    await using fixture = await gitFixture();
    for (const address of ['https://127.0.0.1:9/a.git', 'https://missing.invalid/a.git']) {
      const url = parseGitUrl(address);
      await using access = await openAccess({ runner: fixture.runner, url, credentials: { type: 'none' } });
      await expect(fixture.local.resolve(['main'], access)).rejects.toMatchObject({
        reason: 'HostUnreachable',
        message: expect.stringContaining(url.host),
      });
    }
  });

  it('uses a proxy, except for hosts that are excluded', async () => {
    await using fixture = await gitFixture();
    const commit = await fixture.remote.commit({ a: 'a' });
    const tunnels: string[] = [];
    const proxy = createServer().on('connect', (request, socket, head) => {
      tunnels.push(request.url ?? '');
      const [host = '', port = ''] = (request.url ?? '').split(':');
      const upstream = connect(Number(port), host, () => {
        socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
        upstream.write(head);
        upstream.pipe(socket).pipe(upstream);
      });
      upstream.on('error', () => socket.destroy());
      socket.on('error', () => upstream.destroy());
    });
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    const https = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const url = parseGitUrl(`${fixture.server.url}/plant.git`);
    const options = { runner: fixture.runner, url, credentials: { type: 'none' }, ca: fixture.server.ca } as const;
    for (const no of [undefined, 'localhost']) {
      await using access = await openAccess({ ...options, proxy: { https, no } });
      expect((await fixture.local.resolve(['main'], access)).get('main')?.commit).toBe(commit);
      expect(new Set(tunnels)).toEqual(new Set([fixture.server.host]));
    }
    const tunnelled = tunnels.length;
    proxy.close();
    await using broken = await openAccess({ ...options, proxy: { https: 'http://127.0.0.1:9' } });
    await expect(fixture.local.resolve(['main'], broken)).rejects.toMatchObject({ reason: 'HostUnreachable' });
    expect(tunnels.length).toBe(tunnelled);
  });

  it('refuses an SSH key for an HTTP address', async () => {
    await using fixture = await gitFixture();
    await expect(fixture.open({ type: 'ssh', privateKey: 'key', knownHosts: undefined })).rejects.toMatchObject({
      reason: 'ProtocolRefused',
    });
  });
}
