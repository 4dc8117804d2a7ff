import { formatTime, type JsonObject } from '@bowline/machinery';
import {
  bodyOf,
  GROUP,
  KINDS,
  NAME,
  NAMESPACE,
  type Refusal,
  refusalOf,
  type StepOutcome,
} from './replay.test-support.ts';
import type { Sequence, SequenceKind, Step } from './sequence.test-support.ts';

/** Send sends one request to a control plane; bodies and responses are JSON texts. */
export type Send = (
  method: 'GET' | 'POST' | 'PUT' | 'PATCH',
  path: string,
  body?: string,
  type?: string,
) => Promise<{ readonly status: number; readonly text: string }>;

/** Names holds the names on a control plane that replace the fixed names of the sequences. */
export interface Names {
  readonly group: string;
  readonly namespace: string;
  readonly name: string;
}

/** translated returns a Send that uses the names of the sequences. */
export function translated(send: Send, { group, namespace, name }: Names): Send {
  const toServer = (text: string): string =>
    text.replaceAll(GROUP, group).replaceAll(NAMESPACE, namespace).replaceAll(NAME, name);
  const fromServer = (text: string): string =>
    text.replaceAll(group, GROUP).replaceAll(namespace, NAMESPACE).replaceAll(name, NAME);
  return async (method, path, body, type) => {
    const { status, text } = await send(method, toServer(path), body === undefined ? undefined : toServer(body), type);
    return { status, text: fromServer(text) };
  };
}

const PATCH_TYPES = {
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
  apply: 'application/apply-patch+yaml',
} as const;

/**
 * RECORDED_AT is the time of the first step of every recorded sequence; each step is a second after the previous one.
 */
export const RECORDED_AT = Date.parse('2030-01-01T00:00:00Z');

/** Recorder replaces values that differ in every run by those of the recording. */
export class Recorder {
  readonly #kind: SequenceKind;
  readonly #send: Send;
  readonly #times = new Map<string, string>();
  readonly #revisions = new Map<string, string>();
  #steps = 0;
  #stored: JsonObject | undefined;
  /** The current object, as recorded. */
  object: JsonObject | undefined;

  constructor(kind: SequenceKind, send: Send) {
    this.#kind = kind;
    this.#send = send;
  }

  /** take executes a step and returns its outcome. */
  async take(step: Step): Promise<StepOutcome> {
    const { status, text } = await this.#write(step);
    const revision = this.#revision();
    const { text: stored, status: found } = await this.#send('GET', `${pathOf(this.#kind)}/${NAME}`);
    if (found === 200) {
      this.#stored = JSON.parse(stored) as JsonObject;
      this.object = this.#normalised(this.#stored);
    }
    this.#steps++;
    return {
      status,
      ...(status >= 400 ? { error: refusalOf(JSON.parse(text) as Refusal) } : {}),
      ...(this.#revision() === revision ? {} : { after: this.object }),
    };
  }

  #revision(): unknown {
    return (this.object?.metadata as JsonObject | undefined)?.resourceVersion;
  }

  #write(step: Step): ReturnType<Send> {
    const path = pathOf(step.of ?? this.#kind);
    const query = `?fieldManager=${step.as}${'force' in step && step.force ? '&force=true' : ''}`;
    const one = `${path}/${NAME}${step.on ? `/${step.on}` : ''}${query}`;
    const body = JSON.stringify(bodyOf(this.#kind, step, this.#stored));
    if ('create' in step) return this.#send('POST', `${path}${query}`, body);
    if ('put' in step) return this.#send('PUT', one, body);
    return this.#send('PATCH', one, body, PATCH_TYPES['merge' in step ? 'merge' : 'json' in step ? 'json' : 'apply']);
  }

  #normalised(object: JsonObject): JsonObject {
    const metadata = object.metadata as JsonObject;
    const managedFields = metadata.managedFields as readonly { readonly time?: string }[] | undefined;
    const version = String(metadata.resourceVersion);
    const known = this.#revisions.get(version) ?? String(this.#revisions.size + 1);
    this.#revisions.set(version, known);
    return JSON.parse(
      JSON.stringify({
        ...object,
        metadata: {
          ...metadata,
          uid: 'uid',
          creationTimestamp: formatTime(RECORDED_AT),
          resourceVersion: known,
          managedFields: managedFields?.map((entry) => ({ ...entry, time: this.#time(entry.time) })),
        },
      }).replaceAll(/10\.0\.0\.\d+/g, '10.0.0.1'),
    ) as JsonObject;
  }

  #time(time: string | undefined): string | undefined {
    // Times in managedFields that a client sent are in the past.
    if (time === undefined || Date.parse(time) < Date.parse('2021-01-01')) return time;
    const known = this.#times.get(time) ?? formatTime(RECORDED_AT + this.#steps * 1_000);
    this.#times.set(time, known);
    return known;
  }
}

function pathOf(kind: SequenceKind): string {
  const { apiVersion, resource } = KINDS[kind];
  return `${apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`}/namespaces/${NAMESPACE}/${resource}`;
}

/**
 * record executes all sequences step by step and in parallel; `nextSecond` waits until times differ from those before.
 */
export async function record(
  sequences: readonly Sequence[],
  sendFor: (index: number) => Send,
  nextSecond: () => Promise<void>,
): Promise<ReadonlyMap<string, readonly StepOutcome[]>> {
  const outcomes = sequences.map(({ kind }, index) => ({
    recorder: new Recorder(kind, sendFor(index)),
    steps: [] as StepOutcome[],
  }));
  const most = Math.max(...sequences.map(({ steps }) => steps.length));
  for (let index = 0; index < most; index++) {
    await nextSecond();
    await Promise.all(
      outcomes.map(async ({ recorder, steps }, which) => {
        const step = sequences[which]?.steps[index];
        if (step) steps.push(await recorder.take(step));
      }),
    );
  }
  return new Map(sequences.map(({ name }, which) => [name, outcomes[which]?.steps ?? []]));
}
