import { join } from 'node:path';
import { parseGitUrl } from '../address/git-url.ts';
import { GitRepository } from '../repository/git-repository.ts';
import { GitRunner } from '../runner/git-runner.ts';
import { openAccess } from './open-access.ts';

/** A program that a test runs as a user without a passwd entry: it prints the commit of `main`, or the error. */
const [folder = '', address = '', privateKey = '', nssWrapperLibrary] = process.argv.slice(2);
try {
  const runner = await GitRunner.open({ scratchFolder: join(folder, 'scratch'), nssWrapperLibrary });
  const local = await GitRepository.open(runner, join(folder, 'repo.git'));
  const credentials = { type: 'ssh', privateKey, knownHosts: undefined } as const;
  await using access = await openAccess({ runner, url: parseGitUrl(address), credentials });
  process.stdout.write((await local.resolve(['main'], access)).get('main')?.commit ?? 'nothing');
} catch (error) {
  process.stdout.write(String(error));
}
