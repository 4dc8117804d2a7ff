import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Proof, ProofOptions, ProofResult } from '../../../scripts/proof.ts';
import type { CaseResult } from './run-case.ts';

const PROGRESS_EVERY = 100;
const MAX_VIOLATIONS = 20;
const MAX_PROCESSES = 4;

/** proof checks that no restart, lost watch or wrong clock drops a device too early, or keeps it too long. */
export const proof: Proof = {
  name: 'grace',
  summary:
    'HSM pools while pods, nodes, watches and managers fail: devices stay for exactly the grace period, and count once',
  defaultRuns: 2_000,
  run,
};

async function run({ runs, seed, seconds, log }: ProofOptions): Promise<ProofResult> {
  const deadline = seconds === undefined ? Number.POSITIVE_INFINITY : performance.now() + seconds * 1_000;
  const violations: { seed: number; message: string }[] = [];
  const counts: Record<string, number> = {};
  let started = 0;
  let done = 0;
  const isOver = (): boolean => started >= runs || performance.now() >= deadline || violations.length >= MAX_VIOLATIONS;
  const work = async (): Promise<void> => {
    const child = fork(fileURLToPath(new URL('./case-child.ts', import.meta.url)));
    while (!isOver()) {
      const current = seed + started++;
      const result = await play(child, current);
      for (const message of result.violations) violations.push({ seed: current, message });
      for (const [name, count] of Object.entries(result.counts)) counts[name] = (counts[name] ?? 0) + count;
      done += 1;
      if (done % PROGRESS_EVERY === 0) log(`${done} of ${runs} cases, ${violations.length} violations`);
    }
    child.disconnect();
    await once(child, 'exit');
  };
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), MAX_PROCESSES, runs) }, work));
  violations.sort((a, b) => a.seed - b.seed);
  return { name: proof.name, runs: done, seed, violations, facts: { counts } };
}

async function play(child: ChildProcess, seed: number): Promise<CaseResult> {
  const over = new AbortController();
  const { signal } = over;
  const answer = once(child, 'message', { signal }) as Promise<[CaseResult]>;
  const died = once(child, 'exit', { signal }).then(([code]) => {
    throw new Error(`the process of the case ${seed} exited with ${code}`);
  });
  try {
    child.send(seed);
    const [result] = await Promise.race([answer, died]);
    return result;
  } finally {
    over.abort();
    // Ended by the abort, unless it was first.
    await Promise.allSettled([answer, died]);
  }
}
