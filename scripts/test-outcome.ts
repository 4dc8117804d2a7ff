import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';
import { repositoryRoot } from './repository.ts';

/** The environment variable with the file that receives the outcome. */
export const OUTCOME_FILE = 'BOWLINE_TEST_OUTCOME';

/** Failure is a test, a file or an error outside of tests that failed. */
export interface Failure {
  /** Empty if it is not known. */
  readonly file: string;
  readonly test: string;
  readonly message: string;
}

/** TestFile is a test file and the time that its tests took. */
export interface TestFile {
  readonly file: string;
  readonly seconds: number;
}

/** Outcome is what a run of vitest resulted in. */
export interface Outcome {
  readonly passed: number;
  readonly skipped: number;
  readonly failures: readonly Failure[];
  readonly files: readonly TestFile[];
}

/**
 * OutcomeReporter writes the outcome of a run to the file of OUTCOME_FILE, if it is set. Unlike vitest's JSON, it includes errors
 * outside of tests.
 */
export class OutcomeReporter implements Reporter {
  onTestRunEnd: NonNullable<Reporter['onTestRunEnd']> = (modules, unhandled) => {
    const file = process.env[OUTCOME_FILE];
    if (file === undefined) return;
    const states = modules.flatMap(({ children }) => [...children.allTests()].map((test) => test.result().state));
    const outcome: Outcome = {
      passed: states.filter((state) => state === 'passed').length,
      skipped: states.filter((state) => state === 'skipped').length,
      failures: [
        ...modules.flatMap(failuresIn),
        ...unhandled.map(({ message, VITEST_TEST_PATH: path }) => ({
          file: typeof path === 'string' ? relative(repositoryRoot, path) : '',
          test: 'an error outside of its tests',
          message,
        })),
      ],
      files: modules.map((module) => ({ file: fileOf(module), seconds: module.diagnostic().duration / 1000 })),
    };
    writeFileSync(file, JSON.stringify(outcome));
  };
}

function fileOf({ moduleId }: TestModule): string {
  return relative(repositoryRoot, moduleId);
}

function failuresIn(module: TestModule): readonly Failure[] {
  const file = fileOf(module);
  // A file that cannot be loaded, or whose hook failed, may have no failed test; it is a failure too.
  const suites = [...module.children.allSuites()];
  const ofFile = [module, ...suites].flatMap((each) => each.errors());
  const ofTests = [...module.children.allTests()].flatMap((test) => {
    const { state, errors } = test.result();
    return state === 'failed' ? [{ file, test: test.fullName, message: errors?.[0]?.message ?? '' }] : [];
  });
  return [...ofTests, ...ofFile.map(({ message }) => ({ file, test: '', message }))];
}
