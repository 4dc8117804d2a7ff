// npm test                     what needs Node alone: unit tests, and the behaviour suite on the embedded control plane
// npm run test:kubernetes      the behaviour suite on a real control plane, and what compares with it
// Both take vitest's own arguments after `--`, for instance a path or `-t 'part of a name'`.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { repositoryRoot, sourceFiles } from './repository.ts';

/** The projects of vitest.config.ts that a suite runs. */
const suites: Readonly<Record<string, readonly string[]>> = {
  unit: ['node'],
  node: ['node', 'embedded'],
  kubernetes: ['kubernetes'],
};
const [suite = '', ...more] = process.argv.slice(2);
const projects = Object.hasOwn(suites, suite) ? suites[suite] : undefined;
if (!projects) {
  console.error(`usage: scripts/test.ts ${Object.keys(suites).join('|')} [vitest arguments]`);
  process.exit(2);
}

const scratch = mkdtempSync(join(tmpdir(), 'bowline-test-'));
const json = join(scratch, 'result.json');
const run = spawnSync(
  process.execPath,
  [
    'node_modules/vitest/vitest.mjs',
    'run',
    ...projects.flatMap((project) => ['--project', project]),
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${json}`,
    ...more,
  ],
  { cwd: repositoryRoot, stdio: 'inherit' },
);
const counts = readCounts();
rmSync(scratch, { recursive: true, force: true });

if (suite === 'node' && more.length === 0) {
  const about = ['packages', 'operators', 'apps', 'scripts', 'test', 'bench', 'docs'].flatMap((folder) =>
    sourceFiles(folder, '.kubernetes.test.ts'),
  );
  console.log(
    `left out: ${about.length} files of tests that are about real components (kubectl, etcd, the real API server) or compare with them; ` +
      'npm run test:kubernetes runs them, and all others on a real control plane again',
  );
}
// Where there is no control plane every test is skipped with the reason; that proves nothing and must not look green.
if (suite === 'kubernetes' && counts.passed === 0) counts.failed = Math.max(counts.failed, 1);
console.log(
  `${counts.passed} passed, ${counts.failed} failed${counts.skipped > 0 ? `, ${counts.skipped} skipped` : ''}`,
);
process.exit(run.status === 0 && counts.failed === 0 ? 0 : 1);

function readCounts(): { passed: number; failed: number; skipped: number } {
  try {
    const result = JSON.parse(readFileSync(json, 'utf8')) as {
      numPassedTests: number;
      numFailedTests: number;
      numPendingTests: number;
      numFailedTestSuites: number;
    };
    // A file that cannot even be loaded has no failed test; it still counts.
    const failed = Math.max(result.numFailedTests, run.status === 0 ? 0 : 1);
    return { passed: result.numPassedTests, failed, skipped: result.numPendingTests };
  } catch {
    return { passed: 0, failed: 1, skipped: 0 };
  }
}
