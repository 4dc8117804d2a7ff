import { setTimeout as delay } from 'node:timers/promises';
import type { ControlPlaneAccess } from '@bowline/control-plane';
import { connect, connectionFrom, parseKubeconfig, type Transport } from '@bowline/runtime/client';
import { parse as parseYaml } from 'yaml';
import { differences } from './differences.ts';
import { type NormalisedResponse, normalised } from './normalise.ts';
import type { Case, Step } from './step.ts';

/** StepResponses is a step and the responses of both servers. */
export interface StepResponses {
  readonly step: Step;
  readonly real: NormalisedResponse;
  readonly ours: NormalisedResponse;
  /** Whether the value that the step waits for did not appear in both responses. */
  readonly isMissed: boolean;
}

/** Names are the names that a case inserts into its texts. */
export interface Names {
  readonly namespace: string;
  readonly own: string;
}

interface RawAndNormalised {
  readonly normalisedResponse: NormalisedResponse;
  readonly body: unknown;
}

const MAX_WAIT_MS = 15_000;
const MAX_REPEAT_MS = 5_000;
const MAX_AWAIT_MS = 15_000;
const REPEAT_INTERVAL_MS = 50;

/** Pair is a real and an embedded control plane that get the same requests. */
export class Pair implements AsyncDisposable {
  readonly #real: Transport;
  readonly #ours: Transport;

  private constructor(real: Transport, ours: Transport) {
    this.#real = real;
    this.#ours = ours;
  }

  static async connect(real: ControlPlaneAccess, ours: ControlPlaneAccess): Promise<Pair> {
    return new Pair(await transportTo(real), await transportTo(ours));
  }

  /** play sends the steps of a case, one after the other. */
  async *play({ steps }: Case, names: Names): AsyncGenerator<StepResponses> {
    const real: unknown[] = [];
    const ours: unknown[] = [];
    for (const step of steps) {
      const sendToBoth = () =>
        Promise.all([
          send(this.#real, filled(step, names, real), names),
          send(this.#ours, filled(step, names, ours), names),
        ]);
      let [theirs, mine] = await sendToBoth();
      const isMissed = (): boolean => !isReached(step, theirs.body) || !isReached(step, mine.body);
      const startedAt = performance.now();
      const agreesUntil = startedAt + (step.repeats || step.awaits ? MAX_REPEAT_MS : 0);
      while (
        isMissed()
          ? performance.now() < startedAt + MAX_AWAIT_MS
          : performance.now() < agreesUntil &&
            differences(theirs.normalisedResponse, mine.normalisedResponse).length > 0
      ) {
        await delay(REPEAT_INTERVAL_MS);
        [theirs, mine] = await sendToBoth();
      }
      real.push(theirs.body);
      ours.push(mine.body);
      yield { step, real: theirs.normalisedResponse, ours: mine.normalisedResponse, isMissed: isMissed() };
    }
  }

  /** both sends a request to both, and fails unless both accept it. */
  async both(step: Step): Promise<void> {
    for (const transport of [this.#real, this.#ours]) {
      const { normalisedResponse } = await send(transport, step, { namespace: '-', own: '-' });
      if (normalisedResponse.code >= 300 && normalisedResponse.code !== 409)
        throw new Error(`${step.method} ${step.path} failed: ${JSON.stringify(normalisedResponse.body)}`);
    }
  }

  /** until waits until both respond to a request with 200. */
  async until(path: string): Promise<void> {
    for (const transport of [this.#real, this.#ours]) {
      for (let attempt = 0; ; attempt++) {
        const { normalisedResponse } = await send(transport, { method: 'GET', path }, { namespace: '-', own: '-' });
        if (normalisedResponse.code === 200) break;
        if (attempt > 600) throw new Error(`${path} does not exist: ${JSON.stringify(normalisedResponse.body)}`);
        await delay(25);
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#real.close(), this.#ours.close()]);
  }
}

async function transportTo(controlPlane: ControlPlaneAccess): Promise<Transport> {
  const kubeconfig = await controlPlane.kubeconfig('admin');
  return connect(connectionFrom(await parseKubeconfig(JSON.stringify(kubeconfig), kubeconfig['current-context'])));
}

async function send(transport: Transport, step: Step, names: Names): Promise<RawAndNormalised> {
  const { method, path, body, headers, lines } = step;
  const content = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) };
  const aborter = new AbortController();
  const response = await transport.request({
    // The requests include ones that our clients would never send.
    method: method as 'GET',
    path,
    lane: lines === undefined ? 'call' : 'watch',
    headers: {
      accept: 'application/json',
      'content-type': 'application/json',
      'user-agent': 'differential',
      ...headers,
    },
    signal: aborter.signal,
    timeoutMs: MAX_WAIT_MS,
    ...content,
  });
  const text =
    lines === undefined || response.status !== 200
      ? await response.text()
      : await beginning(response.body, lines, aborter);
  const isYaml = response.headers['content-type'] === 'application/yaml';
  const parsed = isYaml ? (parseYaml(text) as unknown) : parse(text);
  return {
    normalisedResponse: normalised({ status: response.status, headers: response.headers, body: parsed }, names),
    body: parsed,
  };
}

async function beginning(body: AsyncIterable<Uint8Array>, lines: number, aborter: AbortController): Promise<string> {
  const timer = setTimeout(() => aborter.abort(), MAX_WAIT_MS);
  let text = '';
  try {
    for await (const chunk of body) {
      text += Buffer.from(chunk).toString();
      if (text.split('\n').length > lines) break;
    }
  } catch (error) {
    if (!aborter.signal.aborted) throw error;
  } finally {
    clearTimeout(timer);
    aborter.abort();
  }
  return text.split('\n').slice(0, lines).join('\n');
}

/** Lines of JSON become a list; anything else stays text. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    try {
      return text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown);
    } catch {
      return text;
    }
  }
}

function filled(step: Step, { namespace, own }: Names, earlierResponses: readonly unknown[]): Step {
  const fill = (text: string): string =>
    text
      .replaceAll(/\bNS\b/g, namespace)
      .replaceAll('OWN', own)
      .replaceAll(/\{\{(\d+)\.([^}]+)\}\}/g, (_, index: string, path: string) =>
        String(valueAt(earlierResponses[Number(index)], path)),
      );
  const { body, headers = {} } = step;
  return {
    ...step,
    path: fill(step.path),
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, fill(value)])),
    ...(body === undefined ? {} : { body: fill(typeof body === 'string' ? body : JSON.stringify(body)) }),
  };
}

function isReached({ awaits }: Step, body: unknown): boolean {
  return awaits === undefined || valueAt(body, awaits[0]) === awaits[1];
}

function valueAt(body: unknown, path: string): unknown {
  let value = body;
  for (const name of path.split('.')) value = (value as Record<string, unknown> | undefined)?.[name];
  return value;
}
