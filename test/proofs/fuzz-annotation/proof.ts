import { seededRandom } from '@bowline/machinery';
import { parsePodAnnotation } from '../../../operators/jasm/src/annotation/parse-pod-annotation.ts';
import type { PodAnnotation, SecretSyncRequest } from '../../../operators/jasm/src/annotation/secret-sync-request.ts';
import type { Proof, ProofOptions, ProofResult } from '../../../scripts/proof.ts';
import { PROVIDERS } from './annotation-values.ts';
import { type HostileAnnotation, hostileAnnotation } from './hostile-annotation.ts';
import { asAnnotation, dataFor, jsonProblems, resultProblems } from './judge.ts';
import { SecretServer } from './secret-server.ts';

/** The maximum time for one annotation. Only processor time counts: other programs may run on this machine. */
const MAX_CPU_MS = 1_500;
const MAX_VIOLATIONS = 50;
const BETWEEN_LINES = 10_000;
/** A generator whose annotations are never accepted would prove nothing. */
const MIN_ACCEPTED = 0.15;
const BETWEEN_REPETITIONS = 4;
const MAX_QUOTE = 400;

/** proof checks that no annotation harms the operator, and that none is accepted which the API server would reject. */
export const proof: Proof = {
  name: 'fuzz-annotation',
  summary:
    'hostile annotations: the parser of JASM handles them all quickly, and accepts only what the API server does (--kubeconfig FILE: that one instead of the embedded one)',
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
  while (count < runs && performance.now() - startedAt < seconds * 1_000 && violations.length < MAX_VIOLATIONS) {
    const current = seed + count++;
    const random = seededRandom(current);
    const annotation = hostileAnnotation(random);
    const { result, cpuMs, problems } = read(annotation);
    if (cpuMs > slowest.cpuMs) Object.assign(slowest, { cpuMs, family: annotation.family });
    for (const request of result.requests) {
      requests++;
      const { data, problem } = dataFor(random, request);
      if (problem !== undefined) problems.push(problem);
      if (requests % BETWEEN_REPETITIONS === 0) problems.push(...again(request));
      if (data === undefined) continue;
      created++;
      problems.push(...(await server.refusals(request, data)));
    }
    const isAccepted = result.requests.length > 0;
    const family = families[annotation.family] ?? { texts: 0, accepted: 0 };
    families[annotation.family] = { texts: family.texts + 1, accepted: family.accepted + Number(isAccepted) };
    accepted += Number(isAccepted);
    for (const problem of problems) violations.push({ seed: current, message: `${problem} <- ${quoted(annotation)}` });
    if (count % BETWEEN_LINES === 0)
      log(`${count} of ${runs} annotations, ${requests} requests, ${violations.length} violations`);
  }
  if (count >= 1_000 && accepted < count * MIN_ACCEPTED)
    violations.push({
      seed,
      message: `only ${accepted} of ${count} annotations were accepted: the generator is not effective`,
    });
  const facts = { accepted, requests, secretsTried: created, server: server.version, families, slowest };
  return { name: proof.name, runs: count, seed, violations, facts };
}

interface Reading {
  readonly result: PodAnnotation;
  readonly cpuMs: number;
  readonly problems: string[];
}

function read({ text }: HostileAnnotation): Reading {
  const began = performance.now();
  try {
    const result = parsePodAnnotation(text, PROVIDERS);
    const problems = [...resultProblems(result), ...jsonProblems(text, result)];
    // Measuring processor time takes as long as parsing a short annotation.
    const cpuMs = performance.now() - began < MAX_CPU_MS / 10 ? 0 : cpuTime(() => parsePodAnnotation(text, PROVIDERS));
    if (cpuMs > MAX_CPU_MS) problems.push(`took ${cpuMs} ms of processor time`);
    return { result, cpuMs, problems };
  } catch (error) {
    const problem = `the parser throws ${error instanceof Error ? error.stack : String(error)}`;
    return { result: { requests: [], problems: [] }, cpuMs: 0, problems: [problem] };
  }
}

function cpuTime(work: () => void): number {
  const began = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(began);
  return Math.round((user + system) / 1_000);
}

/** again parses an accepted request in another form: the result must be the same. */
function again(request: SecretSyncRequest): string[] {
  const { requests } = parsePodAnnotation(asAnnotation(request), PROVIDERS);
  return requests.length === 1 && requests[0]?.hash === request.hash
    ? []
    : [`written with all fields it is another request: ${asAnnotation(request)}`];
}

function quoted({ family, text }: HostileAnnotation): string {
  const short = JSON.stringify(text);
  return `${family} ${short.length > MAX_QUOTE ? `${short.slice(0, MAX_QUOTE)}… (${text.length} characters)` : short}`;
}
