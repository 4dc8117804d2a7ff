import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from './repository.ts';

/** proofsFolder contains one folder with a proof.ts per proof. */
export const proofsFolder = join(repositoryRoot, 'test/proofs');

/** proofNames returns the names of all proofs. */
export function proofNames(): string[] {
  return readdirSync(proofsFolder)
    .filter((name) => existsSync(join(proofsFolder, name, 'proof.ts')))
    .sort();
}

/** ProofOptions configures how many cases to run and where to start. */
export interface ProofOptions {
  /** How many cases to run. */
  readonly runs: number;
  /** The seed of the first case; case n uses seed + n. */
  readonly seed: number;
  /** Stop starting new cases after this many seconds. Defaults to no limit. */
  readonly seconds?: number;
  /** Prints progress. */
  log(line: string): void;
  /** Flags that the runner does not know, for proofs with their own options. */
  readonly flags?: Readonly<Record<string, string>>;
}

/** ProofResult is the result of a proof; it must be JSON. */
export interface ProofResult {
  readonly name: string;
  /** The number of cases that were run. */
  readonly runs: number;
  readonly seed: number;
  readonly violations: readonly { readonly seed: number; readonly message: string }[];
  /** Additional counts and measurements. */
  readonly facts: Readonly<Record<string, unknown>>;
}

/** Proof is a long, seeded check: too slow for every save, too important to run by hand. */
export interface Proof {
  readonly name: string;
  readonly summary: string;
  /** The default number of cases. */
  readonly defaultRuns: number;
  run(options: ProofOptions): Promise<ProofResult>;
}
