import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { renderPage } from './render.ts';
import type { BenchResult } from './result.ts';

/** BenchOptions is what a suite is run with. */
export interface BenchOptions {
  /** What stood behind the suite's name on the command line. */
  readonly flags: readonly string[];
  /** Shows progress; results are returned, not logged. */
  log(line: string): void;
}

/** BenchSuite measures one part of the product against its peers, in one run. */
export interface BenchSuite {
  readonly name: string;
  /** keeps tells whether a run with these flags is worth keeping; a shortened one is shown and forgotten. */
  keeps(flags: readonly string[]): boolean;
  run(options: BenchOptions): Promise<BenchResult>;
  /** describe gives the lines that a terminal shows at the end. */
  describe(result: BenchResult): string[];
}

/** renderResults makes the page of all kept results. */
export function renderResults(resultsFolder: string): string {
  const files = existsSync(resultsFolder) ? readdirSync(resultsFolder).filter((name) => name.endsWith('.json')) : [];
  return renderPage(
    files.sort().map((name) => JSON.parse(readFileSync(join(resultsFolder, name), 'utf8')) as BenchResult),
  );
}
