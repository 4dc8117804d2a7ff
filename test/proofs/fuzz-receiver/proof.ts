import { pick, seededRandom, systemClock } from '@bowline/machinery';
import { silentLog } from '@bowline/runtime/manager';
import { MAX_PATHS } from '../../../operators/ignition-sync/src/receiver/rate-limit.ts';
import { ReceiverServer } from '../../../operators/ignition-sync/src/receiver/receiver-server.ts';
import { MAX_DELIVERIES, type WebhookResponse } from '../../../operators/ignition-sync/src/receiver/webhook-handler.ts';
import type { Proof, ProofOptions, ProofResult } from '../../../scripts/proof.ts';
import { type HostileRequest, hostileRequest } from './hostile-request.ts';
import { problemsOf } from './judge.ts';
import { type FuzzedReceiver, fuzzedReceiver, MODES } from './receiver-modes.ts';
import { brokenWire, onWire, sendBytes } from './wire.ts';

const MAX_VIOLATIONS = 50;
const BETWEEN_LINES = 10_000;
/** Requests over HTTP take much longer than calls of the handler. */
const WIRE_SHARE = 0.01;
const BROKEN_WIRE_SHARE = 0.005;
/** What an unbounded map would exceed within a million requests, and the garbage of a bounded one does not. */
const MAX_HEAP_GROWTH_MIB = 400;
/** A generator whose requests are never accepted would prove nothing, nor would one that has all of them accepted. */
const MIN_ACCEPTED = 0.05;
const MAX_ACCEPTED = 0.6;
/** Between two requests: slow enough that the rate limit refuses only some of them. */
const STEP_MS = 40;
const MAX_QUOTE = 400;

/** proof checks that no request harms the receiver, and that none without valid authentication changes anything. */
export const proof: Proof = {
  name: 'fuzz-receiver',
  summary:
    'hostile webhooks: the receiver of Ignition Sync responds to all of them, writes only what authentic ones request, and its memory is bounded',
  defaultRuns: 1_000_000,
  run,
};

async function run({ runs, seed, seconds = Number.POSITIVE_INFINITY, log }: ProofOptions): Promise<ProofResult> {
  const startedAt = performance.now();
  const violations: { seed: number; message: string }[] = [];
  const statuses: Record<string, number> = {};
  const families: Record<string, number> = {};
  const totals = { accepted: 0, overHttp: 0, brokenHttp: 0, heapGrowthMiB: 0 };
  const heapAtStart = process.memoryUsage().heapUsed;
  const time = { ms: 0 };
  const clock = { now: () => Date.UTC(2026, 0, 1) + time.ms, monotonic: () => time.ms };
  await using wired = new WiredReceivers(MODES.map((mode) => fuzzedReceiver(mode, clock)));
  await wired.listen();
  let count = 0;
  while (count < runs && performance.now() - startedAt < seconds * 1_000 && violations.length < MAX_VIOLATIONS) {
    const current = seed + count++;
    const random = seededRandom(current);
    time.ms += STEP_MS;
    const receiver = pick(random, wired.receivers);
    const request = hostileRequest(random, receiver.mode);
    const dice = random.next();
    const bytes = dice < WIRE_SHARE ? onWire(request) : undefined;
    const report = (message: string): void => {
      violations.push({ seed: current, message: `${message} <- ${receiver.mode.name} ${quoted(request)}` });
    };
    try {
      if (dice > 1 - BROKEN_WIRE_SHARE) {
        totals.brokenHttp++;
        await wired.send(receiver, brokenWire(random));
        if (receiver.mode.name !== 'open' && receiver.takeWrites().length > 0) report('broken HTTP caused a write');
        receiver.takeWrites();
        for (const error of receiver.takeErrors()) report(`broken HTTP caused an error: ${error}`);
      } else {
        const response = bytes ? await wired.send(receiver, bytes) : await receiver.handler.answer(asReceived(request));
        if (bytes) totals.overHttp++;
        const [writes, errors] = [receiver.takeWrites(), receiver.takeErrors()];
        if (!response) report('no response');
        else {
          statuses[response.status] = (statuses[response.status] ?? 0) + 1;
          if (response.status === 202) totals.accepted++;
          for (const problem of problemsOf({ mode: receiver.mode, request, response, writes, errors })) report(problem);
        }
      }
    } catch (error) {
      report(`throws ${error instanceof Error ? error.stack : String(error)}`);
    }
    families[request.family] = (families[request.family] ?? 0) + 1;
    if (count % BETWEEN_LINES !== 0) continue;
    for (const problem of memoryProblems(wired.receivers, heapAtStart, totals))
      violations.push({ seed: current, message: problem });
    log(`${count} of ${runs} requests, ${totals.accepted} accepted, ${violations.length} violations`);
  }
  for (const problem of memoryProblems(wired.receivers, heapAtStart, totals))
    violations.push({ seed, message: problem });
  const share = totals.accepted / count;
  if (count >= 1_000 && (share < MIN_ACCEPTED || share > MAX_ACCEPTED))
    violations.push({
      seed,
      message: `${totals.accepted} of ${count} requests were accepted: the generator is not effective`,
    });
  return { name: proof.name, runs: count, seed, violations, facts: { ...totals, statuses, families } };
}

function asReceived({ method, url, headers, body }: HostileRequest) {
  const received = { bytes: body, [Symbol.dispose]: () => undefined };
  return { method, url, headers, readBody: () => Promise.resolve(received) };
}

function memoryProblems(
  receivers: readonly FuzzedReceiver[],
  heapAtStart: number,
  totals: { heapGrowthMiB: number },
): string[] {
  // The process may hold more than the receivers: tests run the proof too.
  const growthMiB = Math.round((process.memoryUsage().heapUsed - heapAtStart) / 1024 / 1024);
  totals.heapGrowthMiB = Math.max(totals.heapGrowthMiB, growthMiB);
  const problems = growthMiB > MAX_HEAP_GROWTH_MIB ? [`the heap has grown by ${growthMiB} MiB`] : [];
  for (const { handler, mode } of receivers) {
    const { paths, deliveries } = handler.remembered;
    if (paths > MAX_PATHS || deliveries > MAX_DELIVERIES)
      problems.push(`${mode.name} remembers ${paths} paths and ${deliveries} deliveries`);
  }
  return problems;
}

function quoted({ family, method, url, headers, body }: HostileRequest): string {
  const text = JSON.stringify({ method, url, headers, body: body.toString('latin1') });
  return `${family} ${text.length > MAX_QUOTE ? `${text.slice(0, MAX_QUOTE)}… (${text.length} characters)` : text}`;
}

/** WiredReceivers are receivers that can also be reached over HTTP. */
class WiredReceivers implements AsyncDisposable {
  readonly receivers: readonly FuzzedReceiver[];
  readonly #stopped = new AbortController();
  readonly #ports = new Map<FuzzedReceiver, number>();
  readonly #running: Promise<void>[] = [];

  constructor(receivers: readonly FuzzedReceiver[]) {
    this.receivers = receivers;
  }

  async listen(): Promise<void> {
    for (const receiver of this.receivers) {
      const server = new ReceiverServer({ handler: receiver.handler, clock: systemClock, log: silentLog });
      this.#ports.set(receiver, await server.listen('127.0.0.1', 0));
      this.#running.push(server.run(this.#stopped.signal));
    }
  }

  /** send returns the response to some bytes; undefined if there was none, or one of the HTTP parser. */
  async send(receiver: FuzzedReceiver, bytes: Buffer): Promise<WebhookResponse | undefined> {
    const { status, headers, text } = await sendBytes(this.#ports.get(receiver) ?? 0, bytes);
    if (status === undefined || headers['content-type'] !== 'application/json') return undefined;
    return { status, headers, body: JSON.parse(text) as WebhookResponse['body'] };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped.abort();
    await Promise.all(this.#running);
  }
}
