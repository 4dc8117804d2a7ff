import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from './repository.ts';

/** proofsFolder holds a folder with a proof.ts for each proof. */
export const proofsFolder = join(repositoryRoot, 'test/proofs');

/** proofNames lists what can be proved. */
export function proofNames(): string[] {
  return readdirSync(proofsFolder)
    .filter((name) => existsSync(join(proofsFolder, name, 'proof.ts')))
    .sort();
}

/** ProofOptions says how much to check and where to begin. */
export interface ProofOptions {
  /** How many cases to run. */
  readonly runs: number;
  /** The first case's seed; case n uses seed + n. */
  readonly seed: number;
  /** Stop starting new cases after this many seconds. Defaults to no limit. */
  readonly seconds?: number;
  /** Where progress goes. */
  log(line: string): void;
  /** Flags after the proof's own name that the runner does not know, for proofs with choices of their own. */
  readonly flags?: Readonly<Record<string, string>>;
}

/** ProofResult is what a proof found; it must be JSON. */
export interface ProofResult {
  readonly name: string;
  /** Cases that really ran. */
  readonly runs: number;
  readonly seed: number;
  readonly violations: readonly { readonly seed: number; readonly message: string }[];
  /** What else was counted or measured. */
  readonly facts: Readonly<Record<string, unknown>>;
}

/** Proof is a long, seeded check: too slow for every save, too important to run by hand. */
export interface Proof {
  readonly name: string;
  readonly summary: string;
  /** How many cases run when nobody says. */
  readonly defaultRuns: number;
  run(options: ProofOptions): Promise<ProofResult>;
}
