// npm test                     what needs Node alone
// npm run test:kubernetes      the behaviour suite on a real control plane
// Both take vitest's own arguments after `--`, for instance a path or `-t 'part of a name'`.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { repositoryRoot, sourceFiles } from './repository.ts';

const [suite, ...more] = process.argv.slice(2);
if (suite !== 'node' && suite !== 'kubernetes') {
  console.error('usage: scripts/test.ts node|kubernetes [vitest arguments]');
  process.exit(2);
}

const scratch = mkdtempSync(join(tmpdir(), 'bowline-test-'));
const json = join(scratch, 'result.json');
const run = spawnSync(
  process.execPath,
  [
    'node_modules/vitest/vitest.mjs',
    'run',
    '--project',
    suite,
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${json}`,
    ...more,
  ],
  { cwd: repositoryRoot, stdio: 'inherit' },
);
const counts = readCounts();
rmSync(scratch, { recursive: true, force: true });

if (suite === 'node') {
  const behaviour = ['packages', 'operators', 'apps', 'scripts', 'test', 'bench', 'docs'].flatMap((folder) =>
    sourceFiles(folder, '.cluster.test.ts'),
  );
  if (behaviour.length > 0 && more.length === 0) {
    console.log(
      `left out: ${behaviour.length} files of behaviour tests, because the embedded control plane does not exist yet; ` +
        'npm run test:kubernetes runs them on a real one',
    );
  }
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
