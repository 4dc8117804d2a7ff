import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '../../scripts/repository.ts';

/** The environment variable with the folder for the bundles of a test run. The workers inherit it. */
export const BUNDLES = 'BOWLINE_TEST_BUNDLES';

/**
 * The globalSetup of every project: a folder for the programs that the tests of a run bundle, removed after the run. It is inside
 * the repository because programs look for files of other packages, such as the Go module of the real binaries.
 */
export function setup(): () => void {
  const cache = join(repositoryRoot, 'node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  const folder = process.env[BUNDLES] ?? mkdtempSync(join(cache, 'bowline-bundles-'));
  process.env[BUNDLES] = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}
