// Runs cases in a process of its own: a PKCS#11 module cannot end the proof.
import type { CaseOutcome } from '../run-cases.ts';
import { runCase } from './run-case.ts';
import { softHsmTokens } from './soft-hsm-tokens.ts';
import { softwareTokens, type TokenKind } from './tokens.ts';

/** TokenCase is the outcome of a case on every kind of token. */
export interface TokenCase extends CaseOutcome {
  /** The names of the kinds. */
  readonly kinds: readonly string[];
  /** Why it ran only on tokens in memory. */
  readonly skippedBecause: string | undefined;
}

const softHsm = await softHsmTokens();
const skippedBecause = 'skippedBecause' in softHsm ? softHsm.skippedBecause : undefined;
const kinds: readonly TokenKind[] = 'skippedBecause' in softHsm ? [softwareTokens] : [softwareTokens, softHsm];

process.on('disconnect', () => {
  if (!('skippedBecause' in softHsm)) softHsm[Symbol.dispose]();
  process.exit(0);
});
process.on('message', (seed: number) => void respond(seed));

async function respond(seed: number): Promise<void> {
  const violations: string[] = [];
  const counts: Record<string, number> = {};
  for (const kind of kinds) {
    const result = await runCase(seed, kind);
    for (const text of result.violations) violations.push(`${kind.name} token: ${text}`);
    for (const [name, count] of Object.entries(result.counts)) counts[name] = (counts[name] ?? 0) + count;
  }
  const names = kinds.map(({ name }) => name);
  process.send?.({ violations, counts, kinds: names, skippedBecause } satisfies TokenCase);
}
