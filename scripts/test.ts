// npm test                     Node only: unit tests and the behaviour suite on the embedded control plane
// npm run test:kubernetes      the behaviour suite on a real control plane, and the tests that compare with it
// Both accept vitest's own arguments after `--`, for instance a path or `-t 'part of a name'`.
// --rerun (used by the gate) runs failed files once more, alone, and reports tests that then pass as flaky: on two
// busy cores, a third-party component may take longer than any limit. A file that fails twice fails.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { prepareTools } from '../test/support/prepare-tools.ts';
import { repositoryRoot, sourceFiles } from './repository.ts';

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
/** The parts of each suite, which run one after the other. */
const suites: Readonly<Record<string, readonly Part[]>> = {
  unit: [{ project: 'node', workers: cores }],
  // A test on a control plane waits for it part of the time. A further worker spends more time on compiling than it saves.
  node: [{ project: 'embedded', workers: cores + 1 }],
  kubernetes: [
    // The programs of the control plane need a part of the processor time themselves.
    { project: 'kubernetes', workers: cores },
    // A real control plane per worker would take the processor time of the tests.
    { project: 'kubernetes-exclusive', workers: 1 },
  ],
};
/** More failed files than this are not a coincidence; running them again would only take time. */
const MAX_RERUN_FILES = 10;
/** How many of the slowest test files are printed. */
const SLOWEST = 10;

interface Failure {
  readonly file: string;
  readonly test: string;
  readonly message: string;
}

interface TestFile {
  readonly file: string;
  readonly seconds: number;
}

interface Outcome {
  readonly passed: number;
  readonly skipped: number;
  readonly failures: readonly Failure[];
  readonly slowest: readonly TestFile[];
}

const [suite = '', ...given] = process.argv.slice(2);
const mayRerun = given.includes('--rerun');
const more = given.filter((arg) => arg !== '--rerun');
const chosen = Object.hasOwn(suites, suite) ? suites[suite] : undefined;
if (!chosen) {
  console.error(`usage: scripts/test.ts ${Object.keys(suites).join('|')} [--rerun] [vitest arguments]`);
  process.exit(2);
}

if (suite === 'kubernetes' && more.length === 0) await prepareTools();
const isWhole = more.length === 0;
let outcome = isWhole ? joined(chosen.map((part) => runVitest([part], []))) : runVitest(chosen, more);
const files = [...new Set(outcome.failures.map((failure) => failure.file))];
if (mayRerun && files.length > 0 && files.length <= MAX_RERUN_FILES && !files.includes('')) {
  console.log(`\nrerunning failed files: ${files.join(', ')}`);
  const again = runVitest(
    chosen.map((part) => ({ ...part, workers: 1 })),
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
  const about = ['packages', 'operators', 'apps', 'scripts', 'test', 'bench', 'docs'].flatMap((folder) =>
    sourceFiles(folder, '.kubernetes.test.ts'),
  );
  console.log(
    `skipped: ${about.length} test files that test real components (kubectl, etcd, the real API server) or compare with them; ` +
      'npm run test:kubernetes runs them, and all other tests on a real control plane',
  );
}
if (isWhole) for (const { file, seconds } of outcome.slowest) console.log(`slow: ${file} (${seconds.toFixed(1)} s)`);
for (const failure of outcome.failures) console.log(line('failed', failure));
// Without a control plane, every test is skipped with the reason; that proves nothing and must not count as a success.
const failed = Math.max(outcome.failures.length, suite === 'kubernetes' && outcome.passed === 0 ? 1 : 0);
console.log(`${outcome.passed} passed, ${failed} failed${outcome.skipped > 0 ? `, ${outcome.skipped} skipped` : ''}`);
process.exit(failed === 0 ? 0 : 1);

function line(word: string, { file, test, message }: Failure): string {
  return `${word}: ${[file, test].filter(Boolean).join(' > ')}: ${message.trimStart().split('\n', 1)[0]?.slice(0, 300) ?? ''}`;
}

function joined(outcomes: readonly Outcome[]): Outcome {
  const sum = (count: (outcome: Outcome) => number): number =>
    outcomes.reduce((total, outcome) => total + count(outcome), 0);
  return {
    passed: sum(({ passed }) => passed),
    skipped: sum(({ skipped }) => skipped),
    failures: outcomes.flatMap(({ failures }) => failures),
    slowest: slowestOf(outcomes.flatMap(({ slowest }) => slowest)),
  };
}

function slowestOf(files: readonly TestFile[]): readonly TestFile[] {
  return files.toSorted((a, b) => b.seconds - a.seconds).slice(0, SLOWEST);
}

/** runVitest runs parts in one process, with the workers of the first. */
function runVitest(parts: readonly Part[], args: readonly string[]): Outcome {
  const scratch = mkdtempSync(join(tmpdir(), 'bowline-test-'));
  const json = join(scratch, 'result.json');
  const { status } = spawnSync(
    process.execPath,
    [
      ...V8_OPTIONS,
      'node_modules/vitest/vitest.mjs',
      'run',
      ...parts.flatMap(({ project }) => ['--project', project]),
      `--maxWorkers=${parts[0]?.workers ?? 1}`,
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${json}`,
      ...args,
    ],
    { cwd: repositoryRoot, stdio: 'inherit' },
  );
  const outcome = readOutcome(json);
  rmSync(scratch, { recursive: true, force: true });
  if (status === 0 || outcome.failures.length > 0) return outcome;
  // For instance an unhandled error outside of any test.
  const message = `vitest exited with ${status ?? 'a signal'} although no test failed; see its output`;
  return { ...outcome, failures: [{ file: '', test: '', message }] };
}

function readOutcome(json: string): Outcome {
  interface Result {
    readonly numPassedTests: number;
    readonly numPendingTests: number;
    readonly testResults: readonly {
      readonly name: string;
      readonly status: string;
      readonly message: string;
      readonly startTime: number;
      readonly endTime: number;
      readonly assertionResults: readonly {
        readonly status: string;
        readonly fullName: string;
        readonly failureMessages: readonly string[];
      }[];
    }[];
  }
  let result: Result;
  try {
    result = JSON.parse(readFileSync(json, 'utf8')) as Result;
  } catch {
    return {
      passed: 0,
      skipped: 0,
      slowest: [],
      failures: [{ file: '', test: '', message: 'vitest wrote no result' }],
    };
  }
  const failures = result.testResults.flatMap(({ name, status, message, assertionResults }): Failure[] => {
    const file = relative(repositoryRoot, name);
    const tests = assertionResults
      .filter((test) => test.status === 'failed')
      .map((test) => ({ file, test: test.fullName, message: test.failureMessages[0] ?? '' }));
    // A file that cannot be loaded, or whose hook failed, has no failed test; it counts as a failure too.
    return status === 'failed' && tests.length === 0 ? [{ file, test: '', message }] : tests;
  });
  const timed = result.testResults.map(({ name, startTime, endTime }) => ({
    file: relative(repositoryRoot, name),
    seconds: (endTime - startTime) / 1000,
  }));
  return { passed: result.numPassedTests, skipped: result.numPendingTests, failures, slowest: slowestOf(timed) };
}
