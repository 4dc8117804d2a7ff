import { ConfigMap } from '@bowline/kubernetes';
import { findCondition } from '@bowline/runtime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ensureOpenSsh } from '../../../../test/support/git/ensure-openssh.ts';
import { type RunningSshd, startSshd } from '../../../../test/support/git/start-sshd.ts';
import { IgnitionSync } from '../api/ignition-sync.ts';
import { CR_ANNOTATIONS, objectNames } from '../api/names.ts';
import { fingerprints } from '../source/host-keys.ts';
import { type ControllerScenario, startControllerScenario } from './controller.test-support.ts';

const openSsh = await ensureOpenSsh();

if ('skippedBecause' in openSsh) it.skip(`SSH: ${openSsh.skippedBecause}`, () => undefined);
else {
  describe('scenario 05 over SSH', () => {
    let c: ControllerScenario;
    let sshd: RunningSshd;
    let commit: string;

    beforeAll(async () => {
      sshd = await startSshd(openSsh);
      const repository = await sshd.repositories.create('plant.git');
      commit = await repository.commit({ a: 'over ssh' });
      c = await startControllerScenario();
      c.onDispose(async () => await sshd[Symbol.asyncDispose]());
      await c.secret('ssh', {
        key: sshd.clientKey,
        known: (await sshd.knownHosts()).join('\n'),
        wrong: 'x ssh-ed25519 AAAA',
      });
    });
    afterAll(() => c[Symbol.asyncDispose]());

    const secretRef = (key: string) => ({ secretRef: { name: 'ssh', key } });
    const git = (knownHosts?: string) => ({
      repo: sshd.urlOf('plant.git'),
      auth: { sshKey: { ...secretRef('key'), ...(knownHosts ? { knownHosts: secretRef(knownHosts) } : {}) } },
    });
    const retry = (name: string, value: string) => c.annotate(name, { [CR_ANNOTATIONS.retry]: value });

    it('scenario 05 reads a repository with known hosts', async () => {
      await c.sync('known', { git: git('known') });
      const sync = await c.untilCondition('known', 'RepoCloned', { status: 'True' });
      expect(sync.status).toMatchObject({ lastSyncCommit: commit });
      expect(sync.status?.pinnedHostKeys).toBeUndefined();
      expect(findCondition(sync, 'SSHHostKeyVerification')).toMatchObject({ status: 'True', reason: 'KnownHosts' });
      expect(await c.metadata('known')).toMatchObject({ authType: 'ssh', knownHosts: '' });
    });

    it('scenario 05 refuses a host that is not known', async () => {
      await c.sync('unknown', { git: git('wrong') });
      const message = 'HostKeyChanged: the host key of .* is not the pinned or known one, and nothing was sent';
      await c.untilCondition('unknown', 'RepoCloned', { status: 'False', reason: 'CloneFailed', message });
    });

    it('scenario 05 pins the first key, and refuses another one later, also after a restart, a pause and an edited ConfigMap', async () => {
      await c.sync('first', { git: git() });
      const sync = await c.untilCondition('first', 'RepoCloned', { status: 'True' });
      expect(findCondition(sync, 'SSHHostKeyVerification')).toMatchObject({
        status: 'False',
        reason: 'TrustedOnFirstUse',
      });
      const pinned = sync.status?.pinnedHostKeys ?? [];
      expect(fingerprints(await sshd.knownHosts())).toEqual(expect.arrayContaining([...pinned]));
      expect(pinned.length).toBe(1);
      const { knownHosts } = await c.metadata('first');
      expect(fingerprints(knownHosts.split('\n'))).toEqual(pinned);

      await sshd.replaceHostKeys();
      const untilRefused = () =>
        c.untilCondition('first', 'RepoCloned', { status: 'False', reason: 'CloneFailed', message: 'HostKeyChanged' });
      await retry('first', '1');
      await untilRefused();
      await c.change('first', { paused: true });
      await c.untilCondition('first', 'Ready', { reason: 'Paused' });
      await c.change('first', { paused: false });
      await untilRefused();
      await c.restart();
      // Somebody who may write ConfigMaps cannot make another key trusted.
      const body = { data: { knownHosts: (await sshd.knownHosts()).join('\n') } };
      await c.admin.patch(ConfigMap, c.key(objectNames('first').metadata), { type: 'merge', body });
      await retry('first', '2');
      const refused = await untilRefused();
      expect(refused.status).toMatchObject({ pinnedHostKeys: pinned, lastSyncCommit: commit });

      await c.secret('new', { known: (await sshd.knownHosts()).join('\n') });
      await c.change('first', {
        git: { auth: { sshKey: { knownHosts: { secretRef: { name: 'new', key: 'known' } } } } },
      });
      await c.untilCondition('first', 'RepoCloned', { status: 'True' });
      await c.until(IgnitionSync, c.key('first'), ({ status }) => status?.pinnedHostKeys === undefined);
    });
  });
}
