import type { GitRunner } from '../../git/runner/git-runner.ts';

/** CommitOptions describes a commit. */
export interface CommitOptions {
  /** The repository. */
  readonly gitDir: string;
  readonly branch: string;
  readonly message: string;
  /** Texts by path. The other files of the branch stay. */
  readonly files: Readonly<Record<string, string>>;
  /** In milliseconds since the epoch. */
  readonly nowMs: number;
  readonly signal?: AbortSignal | undefined;
}

const AUTHOR = 'Plant Engineer <engineer@plant.example>';

/** commitFiles adds a commit to a branch, which is created if it does not exist, and returns its hash. */
export async function commitFiles(runner: GitRunner, options: CommitOptions): Promise<string> {
  const { gitDir, branch, message, files, nowMs, signal } = options;
  const ref = `refs/heads/${branch}`;
  const parent = (await runner.run({ args: ['for-each-ref', '--format=%(objectname)', ref], gitDir, signal })).trim();
  // fast-import needs no working tree, and only the trees of the parent.
  const input = [
    `commit ${ref}\n`,
    `committer ${AUTHOR} ${Math.floor(nowMs / 1000)} +0000\n`,
    data(message),
    parent === '' ? '' : `from ${parent}\n`,
    ...Object.entries(files).map(([path, text]) => `M 100644 inline ${JSON.stringify(path)}\n${data(text)}`),
  ];
  await runner.run({ args: ['fast-import', '--quiet', '--force'], gitDir, input, signal });
  return (await runner.run({ args: ['rev-parse', '--verify'], operands: [ref], gitDir, signal })).trim();
}

function data(text: string): string {
  return `data ${Buffer.byteLength(text)}\n${text}\n`;
}
