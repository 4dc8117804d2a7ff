import { randomBytes } from 'node:crypto';
import { VirtualClock } from '@bowline/machinery';
import { describe, expect, it, vi } from 'vitest';
import { availableGit } from '../../../../../test/support/git/git-program.ts';
import type { LfsObject } from '../../engine/sync/blob-source.ts';
import { readContent } from '../../engine/sync/desired-content.ts';
import { parseGitUrl } from '../address/git-url.ts';
import { collect, gitFixture } from '../git-fixture.test-support.ts';
import { BlobReader } from '../repository/blob-reader.ts';
import { type BatchEntry, type LfsServer, startLfsServer } from './lfs-server.test-support.ts';
import { gitLfsSource, type LfsOptions } from './lfs-source.ts';

const PASSWORD = 'lfs-canary';

const sourceOf = ({ url, ca }: LfsServer, more: Partial<LfsOptions> = {}) =>
  gitLfsSource({
    url: parseGitUrl(url),
    credentials: () => Promise.resolve({ type: 'token', token: `${PASSWORD}\n` }),
    ca,
    ...more,
  });

const read = async (server: LfsServer, object: LfsObject, more: Partial<LfsOptions> = {}): Promise<Buffer> =>
  Buffer.concat(await collect(sourceOf(server, more).open(object)));

describe('gitLfsSource', () => {
  it('downloads an object with the credentials of the repository', async () => {
    await using server = await startLfsServer(PASSWORD);
    const content = randomBytes(3_000_000);
    const object = server.store(content);
    expect((await read(server, object)).equals(content)).toBe(true);
    const [batch, download] = server.requests;
    expect(JSON.parse(batch?.body ?? '')).toEqual({
      operation: 'download',
      transfers: ['basic'],
      objects: [object],
      hash_algo: 'sha256',
    });
    expect(batch?.headers).toMatchObject({
      accept: 'application/vnd.git-lfs+json',
      'content-type': 'application/vnd.git-lfs+json',
    });
    expect(download?.path).toBe(`/objects/${object.oid}`);
    // An address without .git has the same API.
    const url = parseGitUrl(server.url.replace('.git', ''));
    expect((await read(server, object, { url })).length).toBe(content.length);
  });

  it('sends the headers that the server wants for the download, except those of the connection', async () => {
    await using server = await startLfsServer(PASSWORD);
    const object = server.store(Buffer.from('large'));
    server.change = (entry) =>
      withDownload(entry, { header: { 'X-Trace': 'a', Host: 'other', 'Bad Name': 'b', n: 1 } });
    await read(server, object);
    const { headers } = server.requests[1] ?? {};
    expect(headers).toMatchObject({ 'x-trace': 'a', host: new URL(server.url).host });
  });

  const elsewhere: readonly (readonly [string, string])[] = [
    ['another host', 'https://example.com/objects/a'],
    ['another port', 'https://localhost:1/objects/a'],
    ['another scheme', 'http://localhost/objects/a'],
    ['a user that looks like the host', 'https://localhost@example.com/'],
    ['no address', 'objects/a'],
  ];
  it.each(elsewhere)('is ProtocolRefused for a download from %s, and connects nowhere', async (_, href) => {
    await using server = await startLfsServer(PASSWORD);
    const object = server.store(Buffer.from('large'));
    server.change = (entry) => withDownload(entry, { href });
    await expect(read(server, object)).rejects.toMatchObject({ reason: 'ProtocolRefused' });
    expect(server.requests).toHaveLength(1);
  });

  it.each([
    ['a redirect of the download', '/objects/', 302, 'Redirected'],
    ['a redirect of the batch API', '/batch', 307, 'Redirected'],
    ['refused credentials', '/batch', 403, 'AuthenticationFailed'],
    ['a server without Git LFS', '/batch', 404, 'CommitGone'],
    ['a failing server', '/objects/', 500, 'HostUnreachable'],
  ])('reports %s', async (_, at, status, reason) => {
    await using server = await startLfsServer(PASSWORD);
    const object = server.store(Buffer.from('large'));
    const answer = at.includes('batch') && status < 400 ? 'https://example.com/' : '/elsewhere';
    server.fault = {
      at: at === '/objects/' ? object.oid : at,
      answer: (to) => to.writeHead(status, { location: answer }).end(PASSWORD),
    };
    const failure = read(server, object);
    await expect(failure).rejects.toMatchObject({ reason });
    // A server could return the credential that it received.
    await expect(failure).rejects.not.toThrow(PASSWORD);
  });

  it('reports wrong credentials, an object that is missing, and responses of another size or form', async () => {
    await using server = await startLfsServer(PASSWORD);
    const object = server.store(Buffer.from('large'));
    const none: Partial<LfsOptions> = { credentials: () => Promise.resolve({ type: 'none' }) };
    await expect(read(server, object, none)).rejects.toMatchObject({ reason: 'AuthenticationFailed' });
    const missing = { oid: 'a'.repeat(64), size: 5 };
    await expect(read(server, missing)).rejects.toThrow('git lfs push');
    server.change = (entry) => ({ ...entry, size: 6 });
    await expect(read(server, object)).rejects.toMatchObject({ reason: 'ProtocolRefused' });
    server.change = (entry) => ({ ...entry, oid: 'b'.repeat(64) });
    await expect(read(server, object)).rejects.toMatchObject({ reason: 'ProtocolRefused' });
    server.change = (entry) => entry;
    server.fault = { at: object.oid, answer: (to) => to.end('larger than it should be') };
    await expect(read(server, object)).rejects.toThrow('larger than its pointer says');
    server.fault = { at: '/batch', answer: (to) => to.end('x'.repeat(300_000)) };
    await expect(read(server, object)).rejects.toMatchObject({ reason: 'TooLarge' });
    const url = parseGitUrl('git@localhost:team/plant.git');
    await expect(read(server, object, { url })).rejects.toThrow('use an https address');
  });

  it('ends a download without data after a minute, and at once when it is aborted', async () => {
    await using server = await startLfsServer(PASSWORD);
    const object = server.store(Buffer.from('large'));
    server.fault = { at: object.oid, answer: (to) => to.write('l') };
    const clock = new VirtualClock();
    const failure = read(server, object, { clock });
    failure.catch(() => undefined);
    await vi.waitFor(() => expect(server.requests).toHaveLength(2));
    await clock.advance(60_000);
    await expect(failure).rejects.toMatchObject({ reason: 'Timeout' });
    const stop = new AbortController();
    const aborted = collect(sourceOf(server, { clock }).open(object, stop.signal));
    aborted.catch(() => undefined);
    await vi.waitFor(() => expect(server.requests).toHaveLength(4));
    stop.abort(new Error('stopped'));
    await expect(aborted).rejects.toThrow('stopped');
  });
});

const git = await availableGit();
if ('skippedBecause' in git) it.skip(`LFS with git: ${git.skippedBecause}`, () => undefined);
else
  it('replaces the pointer in a commit with the content, which the engine verifies', async () => {
    await using server = await startLfsServer(PASSWORD);
    await using fixture = await gitFixture();
    const { local, remote, runner } = fixture;
    const object = server.store(randomBytes(100_000));
    const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${object.oid}\nsize ${object.size}\n`;
    const commit = await remote.commit({ 'fonts/large.ttf': pointer });
    const access = await fixture.open();
    await local.fetchCommit({ commit }, access);
    const [entry] = await collect(local.listTree(commit));
    const blob = entry?.hash ?? '';
    await local.fetchBlobs([blob], { commit }, access);
    await using blobs = new BlobReader(runner, local.folder);
    const sizes = await blobs.sizes([blob]);
    const file = {
      path: 'fonts/large.ttf',
      blob,
      mode: 0o644,
      source: 'fonts/large.ttf',
      transforms: [],
      transformHash: '',
    };
    const source = { prepare: () => Promise.resolve(sizes), open: (id: string) => blobs.open(id) };
    const options = { blobs: source, sizes, lfs: sourceOf(server) };
    const { size } = await readContent(file as never, options, () => undefined);
    expect(size).toBe(object.size);
    server.fault = { at: object.oid, answer: (to) => to.end(randomBytes(object.size)) };
    await expect(readContent(file as never, options, () => undefined)).rejects.toMatchObject({
      reason: 'SourceDamaged',
    });
  });

function withDownload(entry: BatchEntry, more: object): unknown {
  return { ...entry, actions: { download: { ...entry.actions?.download, ...more } } };
}
