import { seededRandom } from '@bowline/machinery';
import type { Proof, ProofOptions, ProofResult } from '../../../scripts/proof.ts';
import { checkStorage } from './check-storage.ts';
import { FuzzedServer } from './fuzzed-server.ts';
import { hostileRequest } from './hostile-request.ts';
import { cleanUp, createFixtures } from './housekeeping.ts';
import { builtIns, described } from './judge.ts';
import { limitProblems } from './limits.ts';

const REQUESTS_PER_CLEANUP = 2_000;
/** The fraction of the time for requests; the rest is for the final checks. */
const REQUEST_TIME_FRACTION = 2 / 3;
const MAX_VIOLATIONS = 50;
const MAX_GROWTH_BYTES = 32 * 1024 * 1024;

/** proof checks that every request to the embedded API server gets a quick response and does no harm. */
export const proof: Proof = {
  name: 'fuzz-server',
  summary:
    'hostile bodies, paths, queries, selectors, patches, schemas and rules: the embedded API server handles them all',
  defaultRuns: 100_000,
  run,
};

async function run({ runs, seed, seconds = Number.POSITIVE_INFINITY, log }: ProofOptions): Promise<ProofResult> {
  const startedAt = performance.now();
  const isOver = (): boolean => performance.now() - startedAt > seconds * 1_000 * REQUEST_TIME_FRACTION;
  const violations: { seed: number; message: string }[] = [];
  using _ = onLostErrors((error) => violations.push({ seed, message: `uncaught ${stackOf(error)}` }));
  const families: Record<string, number> = {};
  const language = builtIns();
  await using server = await FuzzedServer.start();
  await createFixtures(server);
  for (const message of await limitProblems(server)) violations.push({ seed, message });
  const heapAtFirst = await server.heapBytes();
  let [count, readBack] = [0, 0];
  while (count < runs && !isOver() && violations.length < MAX_VIOLATIONS) {
    const current = seed + count++;
    const random = seededRandom(current);
    const request = hostileRequest(random);
    families[request.family] = (families[request.family] ?? 0) + 1;
    const problems = [...(await server.attack(random, request)), ...server.watchProblems()];
    if (builtIns() !== language) problems.push('built-in objects of the language were changed');
    for (const problem of problems) violations.push({ seed: current, message: `${problem} <- ${described(request)}` });
    if (count % REQUESTS_PER_CLEANUP === 0 && count < runs) {
      const { objects, problems: wrong } = await checkStorage(server);
      readBack += objects;
      for (const message of [...wrong, ...(await cleanUp(server))]) violations.push({ seed: current, message });
      log(`${count} of ${runs} requests, ${violations.length} violations, slowest ${server.slowest.cpuMs} ms`);
    }
  }
  const end = (message: string): void => void violations.push({ seed: seed + count, message });
  const storage = await checkStorage(server);
  storage.problems.forEach(end);
  (await cleanUp(server)).forEach(end);
  (await stillWorks(server)).forEach(end);
  const growth = (await server.heapBytes()) - heapAtFirst;
  if (growth > MAX_GROWTH_BYTES) end(`memory grew by ${Math.round(growth / 1024 / 1024)} MiB`);
  const { slowest, statuses, wire } = server;
  const facts = {
    families,
    statuses,
    overHttps: wire,
    slowest,
    objectsReadBack: readBack + storage.objects,
    heapGrowthMiB: Math.round(growth / 1024 / 1024),
  };
  return { name: proof.name, runs: count, seed, violations, facts };
}

/** onLostErrors reports errors that would have crashed the process. */
function onLostErrors(report: (error: unknown) => void): Disposable {
  process.on('unhandledRejection', report).on('uncaughtException', report);
  return { [Symbol.dispose]: () => void process.off('unhandledRejection', report).off('uncaughtException', report) };
}

/** stillWorks takes an object through its lifecycle. */
async function stillWorks(server: FuzzedServer): Promise<string[]> {
  const path = '/api/v1/namespaces/default/configmaps';
  const steps = [
    ['POST', path, { metadata: { name: 'still' }, data: { a: 'b' } }, 201],
    ['GET', `${path}/still`, undefined, 200],
    ['PATCH', `${path}/still`, { data: { a: 'c' } }, 200],
    ['DELETE', `${path}/still`, undefined, 200],
    ['GET', `${path}/still`, undefined, 404],
  ] as const;
  const problems: string[] = [];
  for (const [method, place, body, expected] of steps) {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const { status, text } = await server.sendAsAdmin(method, place, body, type);
    if (status !== expected) problems.push(`at the end ${method} ${place} returns ${status}: ${text.slice(0, 200)}`);
  }
  return problems;
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
