import { connect } from 'node:net';
import { Secret } from '@bowline/kubernetes';
import { ApiError, type ApiRequest } from '@bowline/runtime/client';
import { createLog } from '@bowline/runtime/manager';
import { expect, it, vi } from 'vitest';
import { IgnitionSync } from '../api/ignition-sync.ts';
import { CR_ANNOTATIONS } from '../api/names.ts';
import { minimal } from '../api/specs.test-support.ts';
import { INTERVAL_MS, MAX_AGE_MS } from '../receiver/background-secrets.ts';
import { BODY_TIMEOUT_MS } from '../receiver/read-body.ts';
import { COMMIT, HMAC, OWN, signed, TOKEN } from '../receiver/receiver.test-support.ts';
import { receiverCluster, requested, SYNC, untilKnown } from './receiver-cluster.test-support.ts';

const LIMIT = 60_000;
const waiting = { timeout: 20_000, interval: 20 };
const AT = '2026-01-01T00:00:00Z';
const ZERO = '0'.repeat(40);
const UNAUTHORIZED = { accepted: false, message: 'unauthorized' };
const pushed = (branch: string, after = COMMIT) => ({ ref: `refs/heads/${branch}`, before: ZERO, after });
const tagged = (tag: string) => ({ ref: `refs/tags/${tag}`, before: ZERO, after: COMMIT });
const GITHUB = { 'x-github-event': 'push' };
const cloud = (type: string, name: string) => ({
  push: { changes: [{ new: { type, name, target: { hash: COMMIT } } }] },
});
const server = (type: string, id: string) => ({
  changes: [{ ref: { id, displayId: 'x', type }, toHash: COMMIT, type: 'UPDATE' }],
});

/** The payloads that request a ref: the headers, the body, and who requested it. */
const REFS: readonly (readonly [string, Readonly<Record<string, string>>, (ref: string) => object])[] = [
  ['github', { 'x-github-event': 'release' }, (ref) => ({ action: 'published', release: { tag_name: ref } })],
  ['github', { 'x-github-event': 'create' }, (ref) => ({ ref, ref_type: 'tag' })],
  ['github', GITHUB, tagged],
  ['gitea', { 'x-gitea-event': 'release' }, (ref) => ({ action: 'published', release: { tag_name: ref } })],
  ['gitea', { 'x-gitea-event': 'push' }, tagged],
  ['gitlab', { 'x-gitlab-event': 'Release Hook' }, (tag) => ({ action: 'create', tag })],
  ['gitlab', { 'x-gitlab-event': 'Tag Push Hook' }, tagged],
  ['bitbucket', { 'x-event-key': 'repo:push' }, (ref) => cloud('tag', ref)],
  ['bitbucket', { 'x-event-key': 'repo:refs_changed' }, (ref) => server('TAG', `refs/tags/${ref}`)],
  ['argocd', {}, (ref) => ({ app: { metadata: { annotations: { 'git.ref': ref } } } })],
  ['kargo', {}, (tag) => ({ freight: { commits: [{ tag }] } })],
  ['generic', {}, (ref) => ({ ref })],
];

/** The pushes of a branch. */
const PUSHES: readonly (readonly [Readonly<Record<string, string>>, (branch: string, commit: string) => object])[] = [
  [GITHUB, pushed],
  [{ 'x-gitlab-event': 'Push Hook' }, pushed],
  [{ 'x-gitea-event': 'push' }, pushed],
  [
    { 'x-event-key': 'repo:push' },
    (name, hash) => ({ push: { changes: [{ new: { type: 'branch', name, target: { hash } } }] } }),
  ],
];

it(
  'scenario 12 records releases, tags and requests of every sender, each once',
  async () => {
    await using c = await receiverCluster();
    await untilKnown(c);
    for (const [index, [source, headers, payload]] of REFS.entries()) {
      const ref = `v${index}.0`;
      const accepted = { status: 202, body: { accepted: true, ref } };
      expect(await c.send(payload(ref), { headers }), `${source} ${index}`).toMatchObject(accepted);
      expect(await c.annotations()).toEqual(requested(ref, source, AT));
      const before = await c.admin.get(IgnitionSync, c.key);
      const again = await c.send(payload(ref), { headers });
      expect(again).toMatchObject({ status: 200, body: { accepted: true, ref, message: 'ref already set' } });
      // If the cache does not have the first request yet, the second one is refused as a conflict, and changes nothing.
      const after = await c.admin.get(IgnitionSync, c.key);
      expect(after.metadata?.resourceVersion).toBe(before.metadata?.resourceVersion);
    }
    const { spec } = await c.admin.get(IgnitionSync, c.key);
    expect(spec.git.ref).toBe('main');
  },
  LIMIT,
);

it(
  'scenario 12 records the new head of the synced branch, and ignores everything else',
  async () => {
    await using c = await receiverCluster({ config: { acceptDuplicatesWith: 202 } });
    await untilKnown(c);
    for (const [index, [headers, payload]] of PUSHES.entries()) {
      const commit = COMMIT.replace(/^./, String(index));
      expect(await c.send(payload('main', commit), { headers })).toMatchObject({ status: 202, body: { ref: 'main' } });
      expect(await c.annotations()).toEqual({
        [CR_ANNOTATIONS.requestedCommit]: commit,
        [CR_ANNOTATIONS.requestedAt]: AT,
      });
      // Kargo needs 202.
      const again = await c.send(payload('main', commit), { headers });
      expect(again).toMatchObject({ status: 202, body: { accepted: true, message: 'ref already set' } });
    }
    const before = await c.annotations();
    const draft = { action: 'published', release: { tag_name: 'v9', draft: true } };
    for (const [headers, body] of [
      [GITHUB, pushed('other')],
      [GITHUB, pushed('main', ZERO)],
      [{ 'x-github-event': 'ping' }, { zen: 'x' }],
      [{ 'x-github-event': 'release' }, draft],
      [{ 'x-github-event': 'issues' }, {}],
    ] as const) {
      const reply = await c.send(body, { headers });
      expect(reply).toMatchObject({ status: 200, body: { accepted: false, message: expect.any(String) } });
    }
    expect(await c.annotations()).toEqual(before);
  },
  LIMIT,
);

it(
  'scenario 12 answers a repeated delivery without a write, for ten minutes',
  async () => {
    await using c = await receiverCluster();
    await untilKnown(c);
    const headers = { ...GITHUB, 'x-github-delivery': '72d3162e' };
    expect((await c.send(tagged('v1'), { headers })).status).toBe(202);
    expect((await c.send(tagged('v2'), { headers: GITHUB })).status).toBe(202);
    const repeated = { status: 200, body: { accepted: false, message: 'already received' } };
    expect(await c.send(tagged('v1'), { headers })).toMatchObject(repeated);
    expect(await c.annotations()).toMatchObject(requested('v2', 'github', AT));
    await c.clock.advance(10 * 60_000 + 1);
    // The docs state that a replay after ten minutes requests the old ref again.
    expect((await c.send(tagged('v1'), { headers })).status).toBe(202);
  },
  LIMIT,
);

it(
  'scenario 12 refuses what is not authentic in the same way, without any request to the API server',
  async () => {
    await using c = await receiverCluster({
      environment: {},
      spec: { webhook: { secretRef: { name: 'hook', key: 'secret' } } },
    });
    const metadata = { namespace: c.namespace, name: 'hook' };
    await c.admin.create(Secret, { metadata, stringData: { secret: OWN, other: 'x'.repeat(64) } });
    await c.clock.advance(INTERVAL_MS);
    await untilKnown(c, { secret: OWN });
    const disabled = { ...c.key, name: 'disabled' };
    const spec = minimal({ webhook: { enabled: false, secretRef: { name: 'hook', key: 'secret' } } });
    const requestsSince = async (time: number): Promise<readonly string[]> =>
      (await c.controlPlane.audit(time))
        .filter(({ user, verb }) => user.username === c.username && verb !== 'watch')
        .map(({ verb, objectRef }) => `${verb} ${objectRef?.resource}`)
        .filter((request) => !request.endsWith(' leases'));
    const createdAt = Date.now();
    await c.admin.create(IgnitionSync, { metadata: disabled, spec });
    // Its Secret is read when it appears.
    await expect.poll(() => requestsSince(createdAt)).toContain('get secrets');
    await c.idle();

    const since = Date.now();
    const body = JSON.stringify(tagged('v1'));
    const upper = signed(body, OWN).toUpperCase();
    const refused: readonly [string, Parameters<typeof c.send>[1]][] = [
      ['a wrong signature', { secret: 'wrong' }],
      ['no signature', { secret: null }],
      ['the value of another key of the Secret', { secret: 'x'.repeat(64) }],
      ['half a signature', { secret: null, headers: { 'x-hub-signature-256': `sha256=${upper.slice(0, 32)}` } }],
      ['a signature of another algorithm', { secret: null, headers: { 'x-hub-signature': `sha1=${upper}` } }],
      ['a wrong token', { secret: null, headers: { 'x-gitlab-token': 'wrong' } }],
      ['a bearer token, where none is configured', { secret: null, headers: { authorization: `Bearer ${OWN}` } }],
      ['an unknown IgnitionSync', { secret: OWN, path: `/webhook/${c.namespace}/unknown` }],
      ['an unknown namespace', { secret: OWN, path: `/webhook/unknown/${SYNC}` }],
      ['a disabled IgnitionSync', { secret: OWN, path: `/webhook/${c.namespace}/disabled` }],
    ];
    const headers: object[] = [];
    for (const [what, sent] of refused) {
      const reply = await c.send(body, { ...sent, headers: { ...GITHUB, ...sent?.headers } });
      expect([reply.status, reply.body], what).toEqual([401, UNAUTHORIZED]);
      headers.push({ ...reply.headers, date: undefined });
    }
    expect(new Set(headers.map((each) => JSON.stringify(each))).size).toBe(1);
    expect(await requestsSince(since)).toEqual([]);
    expect(await c.annotations()).toEqual({});

    // Digits in either case, and the header of GitLab, which carries the secret itself.
    const signature = { 'x-hub-signature-256': `sha256=${upper}` };
    expect((await c.send(body, { secret: null, headers: { ...GITHUB, ...signature } })).status).toBe(202);
    const gitlab = { 'x-gitlab-event': 'Tag Push Hook', 'x-gitlab-token': OWN };
    expect((await c.send(tagged('v2'), { secret: null, headers: gitlab })).status).toBe(202);
  },
  LIMIT,
);

it(
  'scenario 12 accepts a global credential, and only that learns of a 404',
  async () => {
    await using c = await receiverCluster({ environment: { WEBHOOK_HMAC_SECRET: HMAC, WEBHOOK_BEARER_TOKEN: TOKEN } });
    await untilKnown(c);
    const bearer = { secret: null, headers: { authorization: `Bearer ${TOKEN}` } };
    expect((await c.send({ ref: 'v1' }, bearer)).status).toBe(202);
    expect((await c.send({ ref: 'v2' })).status).toBe(202);
    const path = `/webhook/${c.namespace}/unknown`;
    const missing = { status: 404, body: { accepted: false, message: 'not found' } };
    expect(await c.send({ ref: 'v3' }, { ...bearer, path })).toMatchObject(missing);
    expect(await c.send({ ref: 'v3' }, { path })).toMatchObject(missing);
  },
  LIMIT,
);

it(
  'scenario 12 answers bad requests with the status of their problem',
  async () => {
    await using c = await receiverCluster({ config: { webhookRateLimit: 5 } });
    const at = (name: string) => ({ path: `/webhook/${c.namespace}/${name}` });
    for (const path of ['/', '/webhook', `/webhook/${c.namespace}`, `/webhook/${c.namespace}/a/b`, '/webhook/A/b'])
      expect((await c.send({}, { path })).status, path).toBe(404);
    const get = await c.send('', { method: 'GET', ...at('methods') });
    expect([get.status, get.headers.allow]).toEqual([405, 'POST']);
    await c.admin.create(IgnitionSync, { metadata: { ...c.key, name: 'bodies' }, spec: minimal() });
    await untilKnown(c, at('bodies'));
    expect((await c.send('[]', at('bodies'))).status).toBe(400);
    expect((await c.send('{', at('bodies'))).status).toBe(400);
    const none = { status: 400, body: { accepted: false, message: 'no ref found in payload' } };
    expect(await c.send({ a: 1 }, at('bodies'))).toMatchObject(none);
    const large = 'x'.repeat(2 * 1024 * 1024);
    expect((await c.send(large, { ...at('large'), secret: null })).status).toBe(413);

    for (let count = 0; count < 5; count++)
      expect((await c.send({}, { ...at('many'), secret: null })).status).toBe(401);
    const limited = await c.send({ ref: 'v1' }, at('many'));
    expect([limited.status, limited.headers['retry-after']]).toEqual([429, '60']);

    const { port } = c.manager.status()[0]?.services[0] ?? {};
    const socket = connect(port ?? 0, '127.0.0.1');
    const received = new Promise<string>((resolve) => socket.once('data', (data) => resolve(data.toString())));
    socket.write(`POST /webhook/${c.namespace}/slow HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\n{`);
    // The time for a body starts when its request has arrived.
    await vi.waitFor(() => expect(c.clock.nextDueInMs).toBeLessThanOrEqual(BODY_TIMEOUT_MS), waiting);
    await c.clock.advance(BODY_TIMEOUT_MS);
    expect(await received).toContain(' 408 ');
    socket.destroy();
  },
  LIMIT,
);

it(
  'scenario 12 serves and writes on a replica that does not lead',
  async () => {
    await using c = await receiverCluster();
    await untilKnown(c);
    const port = await c.standby();
    await untilKnown(c, { port });
    expect(await c.send(tagged('v1'), { headers: GITHUB, port })).toMatchObject({ status: 202, body: { ref: 'v1' } });
    expect(await c.annotations()).toEqual(requested('v1', 'github', AT));
    const { metadata } = await c.admin.get(IgnitionSync, c.key);
    expect(metadata?.managedFields?.map(({ manager }) => manager)).toContain('bowline-ignition-sync-receiver');
    // The leader sees what the other replica wrote.
    await vi.waitFor(async () => {
      const again = await c.send(tagged('v1'), { headers: GITHUB });
      expect(again.body).toMatchObject({ message: 'ref already set' });
    }, waiting);
  },
  LIMIT,
);

it(
  'scenario 12 records the last of many requests that arrive at the same time',
  async () => {
    await using c = await receiverCluster();
    await untilKnown(c);
    const refs = Array.from({ length: 12 }, (_, index) => `v${index}`);
    const replies = await Promise.all(refs.map((ref) => c.send(tagged(ref), { headers: GITHUB })));
    // A write that conflicts three times fails, and its sender repeats it.
    for (const { status } of replies) expect([202, 500]).toContain(status);
    const accepted = refs.filter((_, index) => replies[index]?.status === 202);
    expect(accepted.length).toBeGreaterThan(0);
    expect(accepted).toContain((await c.annotations())[CR_ANNOTATIONS.requestedRef]);
  },
  LIMIT,
);

it(
  'scenario 12 answers 500 when nothing could be written, and accepts the repeated delivery',
  async () => {
    let isBroken = false;
    await using c = await receiverCluster({
      wrapClient: (client) =>
        client.checked(({ verb, resource }) => {
          if (isBroken && verb === 'patch' && resource?.kind === 'IgnitionSync') throw new Error('no connection');
        }),
    });
    await untilKnown(c);
    isBroken = true;
    const headers = { ...GITHUB, 'x-github-delivery': 'a' };
    const failed = await c.send(tagged('v1'), { headers });
    expect(failed).toMatchObject({ status: 500, body: { accepted: false } });
    isBroken = false;
    expect((await c.send(tagged('v1'), { headers })).status).toBe(202);
  },
  LIMIT,
);

it(
  'scenario 12 reads secrets again every minute and when an IgnitionSync changes, and keeps none that was removed',
  async () => {
    const lines: string[] = [];
    const log = createLog({ level: 'debug', destination: { write: (line) => void lines.push(line) } });
    let reads = 0;
    let failure: ((request: ApiRequest) => Error) | undefined;
    await using c = await receiverCluster({
      log,
      environment: {},
      spec: { webhook: { secretRef: { name: 'hook', key: 'secret' } } },
      config: { receiverSecret: { name: 'global' }, allowUnauthenticatedWebhooks: true, webhookRateLimit: 10_000 },
      wrapClient: (client) =>
        client.checked((request) => {
          if (request.resource?.kind !== 'Secret') return;
          reads++;
          if (failure) throw failure(request);
        }),
    });
    const statusWith = async (secret: string | null): Promise<number> =>
      (await c.send({ zen: 'x' }, { secret, headers: { 'x-github-event': 'ping' } })).status;
    const global = { namespace: c.managerNamespace, name: 'global' };
    const hook = { namespace: c.namespace, name: 'hook' };
    /** nextReads lets time pass until both Secrets were read again. */
    const nextReads = async (): Promise<void> => {
      const before = reads;
      await vi.waitFor(async () => {
        await c.clock.advance(INTERVAL_MS / 4);
        expect(reads).toBeGreaterThan(before + 1);
      }, waiting);
    };
    // Secrets that are configured and missing never mean that anyone may send.
    expect([await statusWith(null), await statusWith(HMAC), await statusWith(OWN)]).toEqual([401, 401, 401]);
    await c.admin.create(Secret, { metadata: global, stringData: { hmac: `${HMAC}\n` } });
    await c.admin.create(Secret, { metadata: hook, stringData: { secret: OWN } });
    await nextReads();
    await vi.waitFor(async () => expect([await statusWith(HMAC), await statusWith(OWN)]).toEqual([200, 200]), waiting);

    // Replaced: the old value ends with the next read.
    const patch = { type: 'merge', body: { stringData: { secret: 'rotated' } } } as const;
    await c.admin.patch(Secret, hook, patch);
    await nextReads();
    await vi.waitFor(
      async () => expect([await statusWith('rotated'), await statusWith(OWN)]).toEqual([200, 401]),
      waiting,
    );

    // Another Secret: read at once, and the old one no longer counts from the moment the change is seen.
    await c.admin.create(Secret, { metadata: { ...hook, name: 'second' }, stringData: { secret: 'second' } });
    const secretRef = { name: 'second', key: 'secret' };
    await c.admin.patch(IgnitionSync, c.key, { type: 'merge', body: { spec: { webhook: { secretRef } } } });
    await vi.waitFor(
      async () => expect([await statusWith('second'), await statusWith('rotated')]).toEqual([200, 401]),
      waiting,
    );

    // While the API server does not answer, known secrets are used for five minutes.
    failure = () => new Error('no connection');
    await nextReads();
    expect([await statusWith(HMAC), await statusWith('second')]).toEqual([200, 200]);
    await c.clock.advance(MAX_AGE_MS);
    expect([await statusWith(HMAC), await statusWith('second'), await statusWith(null)]).toEqual([401, 401, 401]);
    failure = undefined;
    await nextReads();
    await vi.waitFor(async () => expect(await statusWith(HMAC)).toBe(200), waiting);

    // A permission that was removed ends it at once.
    failure = (request) => new ApiError({ status: 403, request });
    await nextReads();
    await vi.waitFor(async () => expect(await statusWith(HMAC)).toBe(401), waiting);
    const text = lines.join('');
    for (const secret of [HMAC, OWN, 'rotated']) expect(text).not.toContain(secret);
    expect(text).toContain('cannot use a Secret of the receiver');
  },
  LIMIT,
);

it(
  'scenario 12 reads no Secret for an IgnitionSync whose author was not reviewed',
  async () => {
    await using c = await receiverCluster({
      environment: {},
      config: { trustAllAuthors: false },
      spec: { webhook: { secretRef: { name: 'hook', key: 'secret' } } },
    });
    await c.admin.create(Secret, { metadata: { namespace: c.namespace, name: 'hook' }, stringData: { secret: OWN } });
    await c.clock.advance(INTERVAL_MS);
    await c.idle();
    const reply = await c.send(tagged('v1'), { secret: OWN, headers: GITHUB });
    expect([reply.status, reply.body]).toEqual([401, UNAUTHORIZED]);
    expect(c.requests.filter((request) => request.includes('secrets'))).toEqual([]);
  },
  LIMIT,
);
