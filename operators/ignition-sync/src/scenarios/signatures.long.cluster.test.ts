import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createMetrics } from '@bowline/runtime/manager';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runProgram } from '../../../../bench/support/run-program.ts';
import { findProgram } from '../../../../packages/control-plane/src/binaries/find-binaries.ts';
import { runGit } from '../../../../test/support/git/git-program.ts';
import { IgnitionSync } from '../api/ignition-sync.ts';
import { POD_ANNOTATIONS } from '../api/names.ts';
import { type ControllerScenario, startControllerScenario } from './controller.test-support.ts';

const sshKeygen = await findProgram('ssh-keygen', process.env);

let c: ControllerScenario;
let folder: string;
const metrics = createMetrics();
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bsign-'));
  c = await startControllerScenario({ metrics });
  c.onDispose(() => rm(folder, { recursive: true, force: true }));
});
afterAll(() => c[Symbol.asyncDispose]());

/** createSigner creates a key, and returns what verifies its signatures. */
async function createSigner(name: string): Promise<string> {
  const file = join(folder, name);
  const args = ['-q', '-t', 'ed25519', '-N', '', '-C', name, '-f', file];
  await runProgram('ssh-keygen', args, { cwd: folder, env: process.env });
  return `${name}@example.com namespaces="git" ${await readFile(`${file}.pub`, 'utf8')}`;
}

/** commitAs sets a branch to a new commit, signed by a key unless it is undefined. */
async function commitAs(signer: string | undefined, branch: string, message: string): Promise<string> {
  const tree = await c.repository.git('rev-parse', 'main^{tree}');
  const env = {
    GIT_CONFIG_COUNT: '2',
    GIT_CONFIG_KEY_0: 'gpg.format',
    GIT_CONFIG_VALUE_0: 'ssh',
    GIT_CONFIG_KEY_1: 'user.signingKey',
    GIT_CONFIG_VALUE_1: join(folder, signer ?? ''),
  };
  const sign = signer === undefined ? [] : ['-S'];
  const commit = await runGit(c.repository.folder, ['commit-tree', ...sign, '-m', message, tree], { env });
  await c.repository.git('update-ref', `refs/heads/${branch}`, commit);
  return commit;
}

/** resolves returns how often refs were resolved. */
async function resolves(): Promise<number> {
  const series = /^ignition_sync_git_operations_total\{.*operation="resolve",result="ok".*\} (\d+)$/m;
  return Number(series.exec(await metrics.render())?.[1] ?? 0);
}

it.skipIf(sshKeygen === undefined)(
  'scenario 07 syncs signed commits only, and keeps the old commit otherwise',
  async () => {
    await c.secret('signers', { keys: await createSigner('trusted') });
    await createSigner('other');
    const first = await commitAs('trusted', 'signed', 'one');
    const verify = { format: 'ssh' as const, secretRef: { name: 'signers', key: 'keys' } };
    await c.sync('signed', { git: { ref: 'signed', verify } });
    await c.untilCondition('signed', 'SourceVerified', { status: 'True', reason: 'Verified' });
    for (const signer of [undefined, 'other']) {
      const refused = await commitAs(signer, 'signed', `by ${signer}`);
      await c.advanceTime(66_000);
      const { status } = await c.untilCondition('signed', 'SourceVerified', {
        status: 'False',
        reason: 'VerificationFailed',
        message: `signed is at ${refused.slice(0, 12)}: VerificationFailed: `,
      });
      expect(status?.lastSyncCommit).toBe(first);
      expect((await c.metadata('signed')).commit).toBe(first);
    }
    await c.untilEvent('signed', 'CloneFailed');
    // Each failure of a commit delays its next retry, but not the poll that finds a later commit.
    for (let polls = 0; polls < 6; polls++) {
      const before = await resolves();
      await c.advanceTime(66_000);
      await expect.poll(resolves).toBeGreaterThan(before);
    }
    const accepted = await commitAs('trusted', 'signed', 'two');
    await c.advanceTime(66_000);
    await c.until(IgnitionSync, c.key('signed'), ({ status }) => status?.lastSyncCommit === accepted);
    await c.untilCondition('signed', 'SourceVerified', { status: 'True' });
  },
);

it.skipIf(sshKeygen === undefined)('verifies the commits of refs that pods override too', async () => {
  await c.secret('signers-2', { keys: await createSigner('trusted-2') });
  await commitAs('trusted-2', 'stable', 'stable');
  const signed = await commitAs('trusted-2', 'good', 'good');
  await commitAs(undefined, 'bad', 'bad');
  await c.gateway('good-0', 'overrides', { [POD_ANNOTATIONS.refOverride]: 'good' });
  await c.gateway('bad-0', 'overrides', { [POD_ANNOTATIONS.refOverride]: 'bad' });
  const verify = { format: 'ssh' as const, secretRef: { name: 'signers-2', key: 'keys' } };
  await c.sync('overrides', { git: { ref: 'stable', verify } });
  await c.untilCondition('overrides', 'RefSkew', { status: 'True', message: 'bad-0 follows bad, good-0 follows good' });
  await expect
    .poll(
      async () => {
        await c.advanceTime(1_000);
        const { plan } = await c.metadata('overrides');
        return [plan['good-0']?.commit, plan['bad-0']?.commit];
      },
      { timeout: 20_000, interval: 100 },
    )
    .toEqual([signed, undefined]);
});
