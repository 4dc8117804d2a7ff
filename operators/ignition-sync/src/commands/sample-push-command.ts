import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Secret } from '@bowline/kubernetes';
import { systemClock } from '@bowline/machinery';
import { BowlineError, command } from '@bowline/runtime';
import type { Client } from '@bowline/runtime/client';
import type { Command } from '@bowline/runtime/manager';
import { s } from '@bowline/runtime/resource';
import { IgnitionSync } from '../api/ignition-sync.ts';
import { SAMPLE, SAMPLE_KEYS } from '../samples.ts';

/** Push is a commit that was pushed. */
interface Push {
  readonly commit: string;
  readonly branch: string;
  readonly repository: string;
  /** How to see its effect. */
  readonly next: string;
}

const options = s.object({
  broken: s.boolean().default(false).describe('Push a commit that no gateway could load.'),
});

/** samplePushCommand is `bowline ignition-sync sample push`. */
export const samplePushCommand: Command = command({
  name: 'sample push',
  summary: 'Pushes a commit to the sample repository of `bowline up`, which changes both gateways.',
  options,
  cluster: true,
  output: {
    columns: [
      { name: 'Commit', value: ({ commit }: Push) => commit.slice(0, 12) },
      { name: 'Branch', value: ({ branch }) => branch },
      { name: 'Repository', value: ({ repository }) => repository },
      { name: 'Next', value: ({ next }) => next },
    ],
  },
  run: async ({ options: { broken }, cluster: { client }, signal }) => {
    const { url, branch, token } = await findSample(client, signal);
    // Loaded here, because the manager has the same commands and needs none of it.
    const [{ GitRunner }, { pushChange }, { brokenFiles, changedFiles }] = await Promise.all([
      import('../git/runner/git-runner.ts'),
      import('../local/git/push-change.ts'),
      import('../local/git/plant-files.ts'),
    ]);
    const folder = await mkdtemp(join(tmpdir(), 'bowline-sample-'));
    try {
      const runner = await GitRunner.open({ scratchFolder: folder });
      const text = new Date(systemClock.now()).toISOString();
      const change = broken
        ? { message: 'Break a view of both gateways', files: brokenFiles(text) }
        : { message: 'Change a view of both gateways', files: changedFiles(text) };
      const commit = await pushChange(runner, { url, token, branch, ...change, clock: systemClock, signal });
      const { namespace, name } = SAMPLE;
      const next = broken
        ? `kubectl describe igs -n ${namespace} ${name}: both gateways keep their files`
        : `kubectl get igs -n ${namespace} ${name}`;
      return { commit, branch, repository: url, next };
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
});

interface FoundSample {
  readonly url: string;
  readonly branch: string;
  readonly token: string;
}

/** findSample finds the repository of the sample through the cluster that the kubeconfig selects. */
async function findSample(client: Client, signal: AbortSignal): Promise<FoundSample> {
  const { namespace, name, secret } = SAMPLE;
  const sync = await client.find(IgnitionSync, { namespace, name }, { signal });
  if (sync === undefined) throw missing(`there is no IgnitionSync ${namespace}/${name}`);
  const { repo: url, ref: branch } = sync.spec.git;
  // Only the sample's own server: no commit of ours belongs into a repository of users.
  if (!url.startsWith('http://127.0.0.1:')) throw missing(`${namespace}/${name} does not use the sample repository`);
  const { data } = (await client.find(Secret, { namespace, name: secret }, { signal })) ?? {};
  const token = data?.[SAMPLE_KEYS.token];
  if (token === undefined) throw missing(`the Secret ${namespace}/${secret} has no key ${SAMPLE_KEYS.token}`);
  return { url, branch, token: Buffer.from(token, 'base64').toString() };
}

function missing(problem: string): BowlineError {
  return new BowlineError(
    'BOWLINE_SAMPLE_MISSING',
    `cannot find the sample of \`bowline up\`: ${problem}; start it, and pass the kubeconfig that it displays`,
  );
}
