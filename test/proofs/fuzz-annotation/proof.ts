import { seededRandom } from '@bowline/machinery';
import { parsePodAnnotation } from '../../../operators/jasm/src/annotation/parse-pod-annotation.ts';
import type { PodAnnotation, SecretSyncRequest } from '../../../operators/jasm/src/annotation/secret-sync-request.ts';
import type { Proof, ProofOptions, ProofResult } from '../../../scripts/proof.ts';
import { PROVIDERS } from './annotation-values.ts';
import { type HostileAnnotation, hostileAnnotation } from './hostile-annotation.ts';
import { answerProblems, asAnnotation, dataFor, jsonProblems } from './judge.ts';
import { SecretServer } from './secret-server.ts';

/** Nobody waits longer for one annotation. Only the processor's time counts: other programs may run on this machine. */
const MOST_CPU_MS = 1_500;
const MOST_VIOLATIONS = 50;
const BETWEEN_LINES = 10_000;
/** A generator of which nothing is accepted would prove nothing. */
const LEAST_ACCEPTED = 0.15;
const BETWEEN_REPETITIONS = 4;
const LONGEST_QUOTE = 400;

/** proof checks that no annotation harms the operator, and that none is believed which the API server would not believe. */
export const proof: Proof = {
  name: 'fuzz-annotation',
  summary:
    'hostile annotations: the parser of JASM answers them all, soon, and accepts only what the API server does (--kubeconfig FILE: that one instead of the embedded one)',
  defaultRuns: 100_000,
  run,
};

async function run({
  runs,
  seed,
  seconds = Number.POSITIVE_INFINITY,
  log,
  flags = {},
}: ProofOptions): Promise<ProofResult> {
  const startedAt = performance.now();
  const violations: { seed: number; message: string }[] = [];
  const families: Record<string, { texts: number; accepted: number }> = {};
  const slowest = { cpuMs: 0, family: '' };
  await using server = await SecretServer.reach(flags.kubeconfig);
  let [count, accepted, requests, created] = [0, 0, 0, 0];
  while (count < runs && performance.now() - startedAt < seconds * 1_000 && violations.length < MOST_VIOLATIONS) {
    const current = seed + count++;
    const random = seededRandom(current);
    const annotation = hostileAnnotation(random);
    const { answer, cpuMs, problems } = read(annotation);
    if (cpuMs > slowest.cpuMs) Object.assign(slowest, { cpuMs, family: annotation.family });
    for (const request of answer.requests) {
      requests++;
      const { data, problem } = dataFor(random, request);
      if (problem !== undefined) problems.push(problem);
      if (requests % BETWEEN_REPETITIONS === 0) problems.push(...again(request));
      if (data === undefined) continue;
      created++;
      problems.push(...(await server.refusals(request, data)));
    }
    const isAccepted = answer.requests.length > 0;
    const family = families[annotation.family] ?? { texts: 0, accepted: 0 };
    families[annotation.family] = { texts: family.texts + 1, accepted: family.accepted + Number(isAccepted) };
    accepted += Number(isAccepted);
    for (const problem of problems) violations.push({ seed: current, message: `${problem} <- ${quoted(annotation)}` });
    if (count % BETWEEN_LINES === 0)
      log(`${count} of ${runs} annotations, ${requests} requests, ${violations.length} violations`);
  }
  if (count >= 1_000 && accepted < count * LEAST_ACCEPTED)
    violations.push({
      seed,
      message: `only ${accepted} of ${count} annotations were accepted: the generator is no good`,
    });
  const facts = { accepted, requests, secretsTried: created, server: server.version, families, slowest };
  return { name: proof.name, runs: count, seed, violations, facts };
}

interface Reading {
  readonly answer: PodAnnotation;
  readonly cpuMs: number;
  readonly problems: string[];
}

function read({ text }: HostileAnnotation): Reading {
  const began = performance.now();
  try {
    const answer = parsePodAnnotation(text, PROVIDERS);
    const problems = [...answerProblems(answer), ...jsonProblems(text, answer)];
    // Asking for the processor's time takes as long as a short annotation.
    const cpuMs = performance.now() - began < MOST_CPU_MS / 10 ? 0 : cpuTime(() => parsePodAnnotation(text, PROVIDERS));
    if (cpuMs > MOST_CPU_MS) problems.push(`took ${cpuMs} ms of the processor`);
    return { answer, cpuMs, problems };
  } catch (error) {
    const problem = `the parser throws ${error instanceof Error ? error.stack : String(error)}`;
    return { answer: { requests: [], problems: [] }, cpuMs: 0, problems: [problem] };
  }
}

function cpuTime(work: () => void): number {
  const began = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(began);
  return Math.round((user + system) / 1_000);
}

/** again reads a request that was accepted in another form: it must be the same. */
function again(request: SecretSyncRequest): string[] {
  const { requests } = parsePodAnnotation(asAnnotation(request), PROVIDERS);
  return requests.length === 1 && requests[0]?.hash === request.hash
    ? []
    : [`written with all fields it is another request: ${asAnnotation(request)}`];
}

function quoted({ family, text }: HostileAnnotation): string {
  const short = JSON.stringify(text);
  return `${family} ${short.length > LONGEST_QUOTE ? `${short.slice(0, LONGEST_QUOTE)}… (${text.length} characters)` : short}`;
}
