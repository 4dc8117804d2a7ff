// npm test                     Node only: unit tests and the behaviour suite on the embedded control plane
// npm run test:kubernetes      the behaviour suite on a real control plane, and the tests that compare with it
// Both accept vitest's own arguments after `--`, for instance a path or `-t 'part of a name'`.
// --rerun (used by the gate) runs failed files once more, alone, and reports tests that then pass as flaky: on two
// busy cores, a third-party component may take longer than any limit. A file that fails twice fails.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { prepareTools } from '../test/support/prepare-tools.ts';
import { repositoryRoot, sourceFiles } from './repository.ts';
import { testEnvironment } from './test-environment.ts';
import { type Failure, OUTCOME_FILE, type Outcome, type TestFile } from './test-outcome.ts';

interface Part {
  /** The project of vitest.config.ts. */
  readonly project: string;
  /** How many test files run in parallel. On a shared control plane, each uses its own namespaces. */
  readonly workers: number;
}

/**
 * V8's settings for the test workers and the control plane, which are many isolates on few cores and never warm. New objects are
 * collected in one thread each, less often. Every function is compiled to baseline code at once, and optimized with less inlining.
 * Of the processor time, the other options save about 4 %, and baseline code saved 6 to 15 % of some scenarios, in runs that
 * differ by 10 % themselves (compare docs/decisions/014).
 */
const V8_OPTIONS = [
  '--no-parallel-scavenge',
  '--min-semi-space-size=16',
  '--max-semi-space-size=32',
  '--max-inlined-bytecode-size-cumulative=200',
  '--always-sparkplug',
];

const cores = availableParallelism();
/** The stages of each suite, which run one after the other. The parts of a stage run at the same time, in processes of their own. */
const suites: Readonly<Record<string, readonly (readonly Part[])[]>> = {
  unit: [[{ project: 'node', workers: cores }]],
  // A test on a control plane waits for it part of the time. A further worker spends more time on compiling than it saves.
  node: [[{ project: 'embedded', workers: cores + 1 }]],
  kubernetes: [
    [
      // The programs of the control plane need a part of the processor time themselves.
      { project: 'kubernetes', workers: cores },
      // A real control plane per worker would take the processor time of the tests.
      { project: 'kubernetes-exclusive', workers: 1 },
    ],
    // Left out of `npm test` because of their time; on a real control plane they are part of the first stage.
    [{ project: 'embedded-long', workers: cores }],
  ],
};
/** More failed files than this are not a coincidence; running them again would only take time. */
const MAX_RERUN_FILES = 10;
/** How many of the slowest test files are printed. */
const SLOWEST = 10;

const [suite = '', ...given] = process.argv.slice(2);
const mayRerun = given.includes('--rerun');
const more = given.filter((arg) => arg !== '--rerun');
const whole = Object.hasOwn(suites, suite) ? suites[suite] : undefined;
// Whoever names a long test wants to run it.
const stages =
  suite === 'node' && more.length > 0 && whole ? [...whole, [{ project: 'embedded-long', workers: 1 }]] : whole;
if (!stages) {
  console.error(`usage: scripts/test.ts ${Object.keys(suites).join('|')} [--rerun] [vitest arguments]`);
  process.exit(2);
}

if (suite === 'kubernetes' && more.length === 0) await prepareTools();
const isWhole = more.length === 0;
const parts = stages.flat();
let outcome = isWhole ? await runWhole(stages) : await runVitest(parts, more);
const files = [...new Set(outcome.failures.map((failure) => failure.file))];
if (mayRerun && files.length > 0 && files.length <= MAX_RERUN_FILES && !files.includes('')) {
  console.log(`\nrerunning failed files: ${files.join(', ')}`);
  const again = await runVitest(
    parts.map((part) => ({ ...part, workers: 1 })),
    files,
  );
  // Without a file, the run itself failed: then nothing was shown to pass.
  const failedAgain = (first: Failure): boolean =>
    again.failures.some(({ file }) => file === first.file || file === '');
  const flaky = outcome.failures.filter((failure) => !failedAgain(failure));
  for (const failure of flaky) console.log(line('flaky', failure));
  outcome = { ...outcome, passed: outcome.passed + flaky.length, failures: outcome.failures.filter(failedAgain) };
}

if (suite === 'node' && isWhole) {
  const folders = ['packages', 'operators', 'apps', 'scripts', 'test', 'bench', 'docs'];
  const filesWith = (ending: string): readonly string[] => folders.flatMap((folder) => sourceFiles(folder, ending));
  const long = [...filesWith('.long.test.ts'), ...filesWith('.long.cluster.test.ts')];
  console.log(
    `skipped: ${long.length} test files that start many processes, restart operators often or create many objects; ` +
      'npm run test:kubernetes runs them, and npm test -- FILE runs one',
  );
  const about = filesWith('.kubernetes.test.ts');
  console.log(
    `skipped: ${about.length} test files that test real components (kubectl, etcd, the real API server) or compare with them; ` +
      'npm run test:kubernetes runs them, and all other tests on a real control plane',
  );
}
if (isWhole)
  for (const { file, seconds } of slowestOf(outcome.files)) console.log(`slow: ${file} (${seconds.toFixed(1)} s)`);
for (const failure of outcome.failures) console.log(line('failed', failure));
// Without a control plane, every test is skipped with the reason; that proves nothing and must not count as a success.
const failed = Math.max(outcome.failures.length, suite === 'kubernetes' && outcome.passed === 0 ? 1 : 0);
console.log(`${outcome.passed} passed, ${failed} failed${outcome.skipped > 0 ? `, ${outcome.skipped} skipped` : ''}`);
process.exit(failed === 0 ? 0 : 1);

function line(word: string, { file, test, message }: Failure): string {
  return `${word}: ${[file, test].filter(Boolean).join(' > ')}: ${message.trimStart().split('\n', 1)[0]?.slice(0, 300) ?? ''}`;
}

async function runWhole(all: readonly (readonly Part[])[]): Promise<Outcome> {
  const outcomes: Outcome[] = [];
  for (const stage of all) outcomes.push(...(await Promise.all(stage.map((part) => runVitest([part], [])))));
  return joined(outcomes);
}

function joined(outcomes: readonly Outcome[]): Outcome {
  const sum = (count: (outcome: Outcome) => number): number =>
    outcomes.reduce((total, outcome) => total + count(outcome), 0);
  return {
    passed: sum(({ passed }) => passed),
    skipped: sum(({ skipped }) => skipped),
    failures: outcomes.flatMap(({ failures }) => failures),
    files: outcomes.flatMap(({ files: each }) => each),
  };
}

function slowestOf(all: readonly TestFile[]): readonly TestFile[] {
  return all.toSorted((a, b) => b.seconds - a.seconds).slice(0, SLOWEST);
}

/** runVitest runs parts in one process, with the workers of the first. */
async function runVitest(selected: readonly Part[], args: readonly string[]): Promise<Outcome> {
  const scratch = mkdtempSync(join(tmpdir(), 'bowline-test-'));
  const file = join(scratch, 'outcome.json');
  const child = spawn(
    process.execPath,
    [
      ...V8_OPTIONS,
      'node_modules/vitest/vitest.mjs',
      'run',
      ...selected.flatMap(({ project }) => ['--project', project]),
      `--maxWorkers=${selected[0]?.workers ?? 1}`,
      ...args,
    ],
    { cwd: repositoryRoot, stdio: 'inherit', env: { ...testEnvironment, [OUTCOME_FILE]: file } },
  );
  const [status] = (await once(child, 'close')) as [number | null];
  const outcome = readOutcome(file);
  rmSync(scratch, { recursive: true, force: true });
  if (status === 0 || outcome.failures.length > 0) return outcome;
  const message = `vitest exited with ${status ?? 'a signal'} although no test failed; see its output`;
  return { ...outcome, failures: [{ file: '', test: '', message }] };
}

function readOutcome(file: string): Outcome {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Outcome;
  } catch {
    return { passed: 0, skipped: 0, files: [], failures: [{ file: '', test: '', message: 'vitest wrote no result' }] };
  }
}
