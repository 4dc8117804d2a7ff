import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Proof, ProofOptions, ProofResult } from '../../../scripts/proof.ts';
import { ensurePkcs11js } from '../../support/pkcs11js/ensure-pkcs11js.ts';
import { ensureSoftHsm } from '../../support/softhsm/ensure-softhsm.ts';
import type { CaseMessage } from './case-child.ts';

const PROGRESS_EVERY = 100;
const MAX_VIOLATIONS = 50;
const MAX_PROCESSES = 4;

/** proof checks that no crash mixes or loses the contents of a token, and that no wrong PIN is tried twice. */
export const proof: Proof = {
  name: 'token',
  summary:
    'HSM secrets under crashes at any call of a token: old or new content, nothing left over, no second wrong PIN',
  defaultRuns: 500,
  run,
};

async function run({ runs, seed, seconds, log }: ProofOptions): Promise<ProofResult> {
  // Installed once, before the time counts.
  await ensureSoftHsm(log);
  await ensurePkcs11js(log);
  const deadline = seconds === undefined ? Number.POSITIVE_INFINITY : performance.now() + seconds * 1_000;
  const violations: { seed: number; message: string }[] = [];
  const cases: Record<string, number> = {};
  const counts: Record<string, number> = {};
  let skipped: string | undefined;
  let started = 0;
  let done = 0;
  const isOver = (): boolean => started >= runs || performance.now() >= deadline || violations.length >= MAX_VIOLATIONS;
  const work = async (): Promise<void> => {
    const child = fork(fileURLToPath(new URL('./case-child.ts', import.meta.url)));
    const ready = await received(child, 'start');
    if ('skippedBecause' in ready) skipped = ready.skippedBecause;
    while (!isOver()) {
      const current = seed + started++;
      child.send(current);
      const message = await received(child, `case ${current}`);
      for (const [kind, result] of Object.entries('results' in message ? message.results : {})) {
        cases[kind] = (cases[kind] ?? 0) + 1;
        for (const text of result.violations) violations.push({ seed: current, message: `${kind} token: ${text}` });
        for (const [name, count] of Object.entries(result.counts)) counts[name] = (counts[name] ?? 0) + count;
      }
      if (++done % PROGRESS_EVERY === 0) log(`${done} of ${runs} cases, ${violations.length} violations`);
    }
    child.disconnect();
    await once(child, 'exit');
  };
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), MAX_PROCESSES, runs) }, work));
  if (skipped !== undefined) log(`only tokens in memory: ${skipped}`);
  violations.sort((a, b) => a.seed - b.seed);
  const facts = { cases, ...(skipped === undefined ? {} : { skipped }), counts };
  return { name: proof.name, runs: done, seed, violations, facts };
}

async function received(child: ChildProcess, step: string): Promise<CaseMessage> {
  const over = new AbortController();
  const { signal } = over;
  const message = once(child, 'message', { signal }) as Promise<[CaseMessage]>;
  const died = once(child, 'exit', { signal }).then(([code, by]) => {
    throw new Error(`the process ended with ${code ?? by} during ${step}`);
  });
  try {
    const [answer] = await Promise.race([message, died]);
    return answer;
  } finally {
    over.abort();
    // Ended by the abort, unless it was first.
    await Promise.allSettled([message, died]);
  }
}
