import { describe, expect, it } from 'vitest';
import { deliveryId, parsePayload } from './parse-payload.ts';
import type { Payload } from './payload.ts';
import { COMMIT } from './receiver.test-support.ts';

const ZERO = '0'.repeat(40);

type Row = readonly [string, Readonly<Record<string, string>>, Readonly<Record<string, unknown>>, Payload];
type Source = Exclude<Payload['source'], undefined>;

const ref = (source: Source, name: string, isBranch = false): Payload => ({ kind: 'ref', source, ref: name, isBranch });
const push = (source: Source, branch = 'main', commit = COMMIT): Payload => ({
  kind: 'push',
  source,
  heads: [{ branch, commit }],
});
const ignored = (source: Source): Payload => ({ kind: 'ignored', source, message: expect.any(String) as string });
const invalid = (source: Source | undefined, message: string): Payload => ({
  kind: 'invalid',
  source,
  message: expect.stringContaining(message) as string,
});
const NO_REF = 'no ref found in payload';

const pushed = { ref: 'refs/heads/main', before: ZERO, after: COMMIT, deleted: false };
const tagged = { ref: 'refs/tags/v2', before: ZERO, after: COMMIT };
const released = { action: 'published', release: { tag_name: 'v2', draft: false } };

const likeGitHub = (source: 'github' | 'gitea', header: string): Row[] => [
  ['push of a branch', { [header]: 'push' }, pushed, push(source)],
  ['push of a branch with slashes', { [header]: 'push' }, { ...pushed, ref: 'refs/heads/a/b' }, push(source, 'a/b')],
  ['push of a tag', { [header]: 'push' }, tagged, ref(source, 'v2')],
  ['deleted branch', { [header]: 'push' }, { ...pushed, after: ZERO, deleted: true }, ignored(source)],
  ['deleted tag, by its commit only', { [header]: 'push' }, { ...tagged, after: ZERO }, ignored(source)],
  ['push without a ref', { [header]: 'push' }, { after: COMMIT }, invalid(source, NO_REF)],
  ['push without a commit', { [header]: 'push' }, { ref: 'refs/heads/main' }, invalid(source, 'no commit')],
  ['push of a short commit', { [header]: 'push' }, { ...pushed, after: 'abc' }, invalid(source, 'no commit')],
  ['created tag', { [header]: 'create' }, { ref: 'v2', ref_type: 'tag' }, ref(source, 'v2')],
  ['created branch', { [header]: 'create' }, { ref: 'x', ref_type: 'branch' }, ignored(source)],
  ['published release', { [header]: 'release' }, released, ref(source, 'v2')],
  ['edited release', { [header]: 'release' }, { ...released, action: 'edited' }, ignored(source)],
  ['draft', { [header]: 'release' }, { ...released, release: { tag_name: 'v2', draft: true } }, ignored(source)],
  ['release without a tag', { [header]: 'release' }, { ...released, release: {} }, invalid(source, NO_REF)],
  ['ping', { [header]: 'ping' }, { zen: 'x', ref: 'main' }, ignored(source)],
  ['another event', { [header]: 'issues' }, { ref: 'main' }, ignored(source)],
];

const cloud = (...changes: unknown[]) => ({ push: { changes } });
const cloudBranch = { new: { type: 'branch', name: 'main', target: { hash: COMMIT } } };
const cloudTag = { new: { type: 'tag', name: 'v2', target: { hash: COMMIT } } };
const server = (type: string, id: string, change = 'UPDATE') => ({
  changes: [{ ref: { id, displayId: 'x', type }, toHash: COMMIT, type: change }],
});
const CLOUD = { 'x-event-key': 'repo:push' };
const SERVER = { 'x-event-key': 'repo:refs_changed' };

const ROWS: readonly Row[] = [
  ...likeGitHub('github', 'x-github-event'),
  ...likeGitHub('gitea', 'x-gitea-event'),
  [
    'Gitea, which also sends the header of GitHub',
    { 'x-gitea-event': 'push', 'x-github-event': 'push' },
    pushed,
    push('gitea'),
  ],
  ['GitLab push', { 'x-gitlab-event': 'Push Hook' }, pushed, push('gitlab')],
  [
    'GitLab deletion',
    { 'x-gitlab-event': 'Push Hook' },
    { ...pushed, after: ZERO, checkout_sha: null },
    ignored('gitlab'),
  ],
  ['GitLab tag', { 'x-gitlab-event': 'Tag Push Hook' }, tagged, ref('gitlab', 'v2')],
  ['GitLab deleted tag', { 'x-gitlab-event': 'Tag Push Hook' }, { ...tagged, after: ZERO }, ignored('gitlab')],
  ['GitLab release', { 'x-gitlab-event': 'Release Hook' }, { action: 'create', tag: 'v2' }, ref('gitlab', 'v2')],
  ['GitLab deleted release', { 'x-gitlab-event': 'Release Hook' }, { action: 'delete', tag: 'v2' }, ignored('gitlab')],
  ['GitLab another event', { 'x-gitlab-event': 'Issue Hook' }, { ref: 'main' }, ignored('gitlab')],
  ['Bitbucket push', CLOUD, cloud(cloudBranch), push('bitbucket')],
  ['Bitbucket tag', CLOUD, cloud(cloudTag), ref('bitbucket', 'v2')],
  ['Bitbucket branch and tag', CLOUD, cloud(cloudTag, cloudBranch), ref('bitbucket', 'v2')],
  ['Bitbucket deletion', CLOUD, cloud({ new: null, old: {} }), ignored('bitbucket')],
  ['Bitbucket deletion and push', CLOUD, cloud({ new: null }, cloudBranch), push('bitbucket')],
  ['Bitbucket without changes', CLOUD, cloud(), invalid('bitbucket', NO_REF)],
  ['Bitbucket without a push', CLOUD, {}, invalid('bitbucket', NO_REF)],
  ['Bitbucket Data Center push', SERVER, server('BRANCH', 'refs/heads/main'), push('bitbucket')],
  ['Bitbucket Data Center tag', SERVER, server('TAG', 'refs/tags/v2', 'ADD'), ref('bitbucket', 'v2')],
  ['Bitbucket Data Center deletion', SERVER, server('TAG', 'refs/tags/v2', 'DELETE'), ignored('bitbucket')],
  ['Bitbucket Data Center ping', { 'x-event-key': 'diagnostics:ping' }, { test: true }, ignored('bitbucket')],
  ['release by shape', {}, { release: { tag_name: 'v2' } }, ref('github', 'v2')],
  ['draft by shape', {}, { release: { tag_name: 'v2', draft: true } }, ignored('github')],
  ['deleted release by shape', {}, { action: 'deleted', release: { tag_name: 'v2' } }, ignored('github')],
  ['Argo CD', {}, { app: { metadata: { annotations: { 'git.ref': 'v3' } } } }, ref('argocd', 'v3')],
  ['Kargo', {}, { freight: { commits: [{ tag: 'v4' }, { tag: 'v5' }] } }, ref('kargo', 'v4')],
  ['generic', {}, { ref: 'v6' }, ref('generic', 'v6')],
  ['generic branch', {}, { ref: 'refs/heads/x' }, ref('generic', 'x', true)],
  ['generic tag', {}, { ref: 'refs/tags/x' }, ref('generic', 'x')],
  ['generic deletion', {}, { ref: 'refs/heads/x', after: ZERO }, ignored('generic')],
  [
    'a release before the others',
    {},
    { ref: 'a', freight: { commits: [{ tag: 'b' }] }, release: { tag_name: 'c' } },
    ref('github', 'c'),
  ],
  [
    'Argo CD before Kargo',
    {},
    { freight: { commits: [{ tag: 'b' }] }, app: { metadata: { annotations: { 'git.ref': 'd' } } } },
    ref('argocd', 'd'),
  ],
  ['Kargo before generic', {}, { ref: 'a', freight: { commits: [{ tag: 'b' }] } }, ref('kargo', 'b')],
  ['a shape with an empty ref', {}, { ref: 'a', release: { tag_name: '' } }, ref('generic', 'a')],
  ['nothing known', {}, { a: 1 }, invalid(undefined, NO_REF)],
  ['an empty ref', {}, { ref: '' }, invalid(undefined, NO_REF)],
  ['a ref that is no text', {}, { ref: ['main'] }, invalid(undefined, NO_REF)],
];

describe('a payload', () => {
  it.each(ROWS)('is understood: %s', (_, headers, body, expected) => {
    expect(parsePayload(headers, body)).toEqual(expected);
  });

  it.each([
    '-x',
    '--upload-pack=touch',
    'a..b',
    'a b',
    'refs/pull/1/head',
    'refs/heads/-x',
    'refs/heads/refs/heads/x',
    'refs/heads/',
    'a\u0000',
    '\ud800',
    'a'.repeat(256),
  ])('with the ref %j is invalid, and the message does not quote it', (text) => {
    const payload = parsePayload({}, { ref: text });
    expect(payload).toEqual(invalid('generic', 'the ref '));
    expect(parsePayload({ 'x-github-event': 'push' }, { ref: text, after: COMMIT }).kind).toBe('invalid');
    if (payload.kind === 'invalid' && text.length > 2) expect(payload.message).not.toContain(text);
  });

  it('may have the longest name behind refs/heads/', () => {
    expect(parsePayload({}, { ref: `refs/heads/${'a'.repeat(255)}` }).kind).toBe('ref');
  });
});

describe('the id of a delivery', () => {
  it.each([
    [{ 'x-github-event': 'push', 'x-github-delivery': 'a' }, 'a'],
    [{ 'x-gitea-event': 'push', 'x-gitea-delivery': 'b', 'x-github-delivery': 'c' }, 'b'],
    [{ 'x-gitlab-event': 'Push Hook', 'idempotency-key': 'd', 'x-gitlab-event-uuid': 'e' }, 'd'],
    [{ 'x-event-key': 'repo:push', 'x-request-uuid': 'f', 'x-request-id': 'g' }, 'f'],
    [{ 'x-event-key': 'repo:refs_changed', 'x-request-id': 'g' }, 'g'],
    [{ 'x-github-event': 'push' }, undefined],
    [{ 'x-github-event': 'push', 'x-github-delivery': 'x'.repeat(129) }, undefined],
    [{ 'x-request-id': 'of a proxy' }, undefined],
  ])('in %j is %s', (headers, id) => {
    expect(deliveryId(headers)).toBe(id);
  });
});
