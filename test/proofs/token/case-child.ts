// Runs cases in a process of its own, so that all processors are used, and a PKCS#11 module cannot end the proof.
import { type CaseResult, runCase } from './run-case.ts';
import { softHsmTokens } from './soft-hsm-tokens.ts';
import { softwareTokens, type TokenKind } from './tokens.ts';

/** CaseMessage is what the process sends: first that it is ready, then a result for each case. */
export type CaseMessage =
  | { readonly skippedBecause: string | undefined }
  /** The results by kind of token. */
  | { readonly results: Readonly<Record<string, CaseResult>> };

const softHsm = await softHsmTokens();
const skippedBecause = 'skippedBecause' in softHsm ? softHsm.skippedBecause : undefined;
const kinds: readonly TokenKind[] = 'skippedBecause' in softHsm ? [softwareTokens] : [softwareTokens, softHsm];

process.on('disconnect', () => {
  if (!('skippedBecause' in softHsm)) softHsm[Symbol.dispose]();
  process.exit(0);
});
process.on('message', (seed: number) => void respond(seed));
process.send?.({ skippedBecause } satisfies CaseMessage);

async function respond(seed: number): Promise<void> {
  const results: Record<string, CaseResult> = {};
  for (const kind of kinds) results[kind.name] = await runCase(seed, kind);
  process.send?.({ results } satisfies CaseMessage);
}
