import { afterAll, beforeAll, expect, it } from 'vitest';
import { IgnitionSync } from '../api/ignition-sync.ts';
import { CR_ANNOTATIONS } from '../api/names.ts';
import { type ControllerScenario, startControllerScenario } from './controller.test-support.ts';

let c: ControllerScenario;
beforeAll(async () => {
  c = await startControllerScenario();
});
afterAll(() => c[Symbol.asyncDispose]());

const untilAt = (name: string, commit: string, ref?: string) =>
  c.until(
    IgnitionSync,
    c.key(name),
    ({ status }) => status?.lastSyncCommit === commit && (ref === undefined || status.lastSyncRef === ref),
  );

it('scenario 04 resolves branches, tags, commits and full names, and tags before branches', async () => {
  const { repository } = c;
  const first = await repository.commit({ a: '1' }, { branch: 'release' });
  await repository.git('tag', 'light', first);
  await repository.git('tag', 'both', first);
  const second = await repository.commit({ a: '2' }, { branch: 'both' });
  await repository.git('-c', 'user.name=t', '-c', 'user.email=t@t', 'tag', '-a', '-m', 'release', 'annotated', second);
  const expected: readonly (readonly [string, string, string])[] = [
    ['branch', 'release', first],
    ['lightweight', 'light', first],
    ['annotated', 'annotated', second],
    ['hash', second, second],
    ['full', 'refs/heads/both', second],
    ['same-name', 'both', first],
  ];
  for (const [name, ref] of expected) await c.sync(name, { git: { ref } });
  for (const [name, ref, commit] of expected) {
    await untilAt(name, commit, ref);
    expect(await c.metadata(name)).toMatchObject({ commit, ref, gitURL: c.repo });
  }
});

it('scenario 04 reports an unknown ref, keeps the old commit, and shows the synced ref in the column Ref', async () => {
  const commit = await c.repository.commit({ b: '1' }, { branch: 'kept' });
  await c.sync('kept', { git: { ref: 'kept' } });
  await untilAt('kept', commit, 'kept');
  await c.change('kept', { git: { ref: 'absent' } });
  const message = 'RefNotFound: .* has neither a tag nor a branch absent; push it, or correct spec.git.ref';
  const { status } = await c.untilCondition('kept', 'RepoCloned', { status: 'False', reason: 'CloneFailed', message });
  expect(status).toMatchObject({ lastSyncRef: 'kept', lastSyncCommit: commit, repoCloneStatus: 'Error' });
  expect(await c.metadata('kept')).toMatchObject({ ref: 'kept', commit });
  await c.untilCondition('kept', 'Ready', {
    status: 'False',
    reason: 'Reconciling',
    message: 'Repository not cloned: RefNotFound',
  });
  await c.untilEvent('kept', 'CloneFailed');
});

it('scenario 04 notices a push and a force push at the next poll, and an edited ref at once', async () => {
  const first = await c.repository.commit({ c: '1' }, { branch: 'moving' });
  const other = await c.repository.commit({ c: 'other' }, { branch: 'other' });
  await c.sync('moving', { git: { ref: 'moving' } });
  await untilAt('moving', first);
  const pushed = await c.repository.commit({ c: '2' }, { branch: 'moving' });
  await c.idle();
  expect((await c.metadata('moving')).commit).toBe(first);
  await c.advanceTime(66_000);
  await untilAt('moving', pushed);
  await c.repository.git('update-ref', 'refs/heads/moving', first);
  await c.advanceTime(66_000);
  await untilAt('moving', first);
  await c.change('moving', { git: { ref: 'other' } });
  await untilAt('moving', other, 'other');
});

it('scenario 04 resolves again at once when a push is announced', async () => {
  const first = await c.repository.commit({ d: '1' }, { branch: 'announced' });
  await c.sync('announced', { git: { ref: 'announced' } });
  await untilAt('announced', first);
  const pushed = await c.repository.commit({ d: '2' }, { branch: 'announced' });
  await c.annotate('announced', {
    [CR_ANNOTATIONS.requestedCommit]: pushed,
    [CR_ANNOTATIONS.requestedAt]: '2026-01-01T00:00:00Z',
  });
  await untilAt('announced', pushed);
  expect((await c.metadata('announced')).trigger).toBe('2026-01-01T00:00:00Z');
});

it('a requested ref ends when spec.git.ref becomes equal or changes (requested-ref never ended)', async () => {
  const first = await c.repository.commit({ e: '1' }, { branch: 'v2.0.0' });
  const main = await c.repository.git('rev-parse', 'refs/heads/main');
  const request = (ref: string, at: string) =>
    c.annotate('requested', {
      [CR_ANNOTATIONS.requestedRef]: ref,
      [CR_ANNOTATIONS.requestedAt]: at,
      [CR_ANNOTATIONS.requestedBy]: 'github',
    });
  const untilEnded = () =>
    c.until(
      IgnitionSync,
      c.key('requested'),
      ({ metadata }) => metadata?.annotations?.[CR_ANNOTATIONS.requestedRef] === undefined,
    );
  await c.sync('requested', {});
  await untilAt('requested', main);
  await request('v2.0.0', '2026-01-01T00:00:00Z');
  await untilAt('requested', first, 'v2.0.0');
  await c.untilEvent('requested', 'WebhookReceived');
  await c.change('requested', { git: { ref: '2.0.0' } });
  const ended = await untilEnded();
  expect(ended.metadata?.annotations?.[CR_ANNOTATIONS.requestedBy]).toBe('github');
  await c.change('requested', { git: { ref: 'main' } });
  await untilAt('requested', main, 'main');
  await request('v2.0.0', '2026-01-01T00:01:00Z');
  await untilAt('requested', first, 'v2.0.0');
  await c.change('requested', { git: { ref: 'refs/heads/main' } });
  await untilEnded();
  await untilAt('requested', main, 'refs/heads/main');
  await request('absent', '2026-01-01T00:00:09Z');
  const message = 'has neither a tag nor a branch absent; push it, or remove the annotation .*/requested-ref$';
  await c.untilCondition('requested', 'RepoCloned', { status: 'False', message });
});
