import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { renderPage } from './render.ts';
import type { BenchResult } from './result.ts';

/** BenchOptions configures a run of a suite. */
export interface BenchOptions {
  /** The arguments after the suite's name on the command line. */
  readonly flags: readonly string[];
  /** Prints progress; results are returned, not logged. */
  log(line: string): void;
}

/** BenchSuite measures one part of the product against its peers in one run. */
export interface BenchSuite {
  readonly name: string;
  /** keeps returns whether a run with these flags is worth keeping; a shortened one is only printed. */
  keeps(flags: readonly string[]): boolean;
  run(options: BenchOptions): Promise<BenchResult>;
  /** describe returns the lines to print at the end. */
  describe(result: BenchResult): string[];
}

/** renderResults renders the page of all kept results. */
export function renderResults(resultsFolder: string): string {
  const files = existsSync(resultsFolder) ? readdirSync(resultsFolder).filter((name) => name.endsWith('.json')) : [];
  return renderPage(
    files.sort().map((name) => JSON.parse(readFileSync(join(resultsFolder, name), 'utf8')) as BenchResult),
  );
}
