import { systemClock } from '@bowline/machinery';
import { describe, expect, it } from 'vitest';
import { parseGitUrl } from '../../git/address/git-url.ts';
import { FORGE_TOKEN, startFakeForge } from './fake-forge.test-support.ts';
import { FORGES } from './forge.ts';
import { forgeKindOf, forgeOf } from './forge-of.ts';

const url = parseGitUrl('https://git.example.com/team/plant.git');
const wanted = { branch: 'gateway/site', base: 'main', title: 'Changes', body: 'of site', labels: ['gateway', 'new'] };

describe.each(FORGES)('%s', (kind) => {
  it('finds no pull request of a branch, opens one with labels, and finds it', async () => {
    await using fake = await startFakeForge(kind);
    const forge = forgeOf({ url, kind, token: `${FORGE_TOKEN}\n`, apiBaseUrl: fake.apiBaseUrl, clock: systemClock });
    expect(await forge.findOpen(wanted.branch, 'main')).toBeUndefined();
    const opened = await forge.open(wanted);
    expect(opened).toEqual({ number: 7, url: 'https://forge.example.com/team/plant/pulls/7' });
    expect(await forge.findOpen(wanted.branch, 'main')).toEqual(opened);
    expect(await forge.findOpen(wanted.branch, 'other')).toBeUndefined();
    // Gitea does not create labels.
    const labels = kind === 'gitea' ? ['gateway'] : ['gateway', 'new'];
    expect(fake.open.get(wanted.branch)).toEqual({ number: 7, base: 'main', labels });
  });

  it('reports refused tokens and failures without text of the server', async () => {
    await using fake = await startFakeForge(kind);
    const options = { url, kind, apiBaseUrl: fake.apiBaseUrl, clock: systemClock };
    const wrong = forgeOf({ ...options, token: 'wrong' });
    await expect(wrong.findOpen('x', 'main')).rejects.toMatchObject({ reason: 'PushRefused' });
    const forge = forgeOf({ ...options, token: FORGE_TOKEN });
    for (const [status, reason] of [
      [403, 'PushRefused'],
      [404, 'PushRefused'],
      [422, 'GitFailed'],
      [301, 'Redirected'],
      [503, 'HostUnreachable'],
    ] as const) {
      fake.failWith = status;
      const failure = forge.open(wanted);
      await expect(failure).rejects.toMatchObject({ reason });
      await expect(failure).rejects.not.toThrow(FORGE_TOKEN);
    }
  });
});

it.each([
  ['github.com', 'github'],
  ['github.example.com', 'github'],
  ['gitlab.com', 'gitlab'],
  ['gitlab.example.com:8443', 'gitlab'],
  ['codeberg.org', 'gitea'],
  ['gitea.example.com', 'gitea'],
  ['git.example.com', undefined],
  ['notgithub.com', undefined],
])('the forge of %s is %s', (host, kind) => {
  expect(forgeKindOf(host)).toBe(kind);
});

it('refuses a repository on an unknown forge, without a token, or without a project, and names the remedy', () => {
  const refusal = (more: object): unknown => {
    try {
      return forgeOf({ url, token: FORGE_TOKEN, clock: systemClock, ...more });
    } catch (error) {
      return (error as Error).message;
    }
  };
  expect(refusal({})).toContain('set bidirectional.forge');
  expect(refusal({ kind: 'gitea', token: undefined })).toContain('use git.auth.token');
  expect(refusal({ kind: 'gitea', url: parseGitUrl('https://h/plant.git') })).toContain('correct the path');
});
