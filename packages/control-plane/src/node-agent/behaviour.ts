import { isObject } from '@bowline/machinery';
import { BowlineError } from '@bowline/runtime';

/** BEHAVIOUR_ANNOTATION, on a Pod or claim (or in its template) or a Node, configures how the node agent treats it. */
export const BEHAVIOUR_ANNOTATION = 'node-agent.bowline.dev/behaviour';

/** RULE_PREFIX is the prefix of Namespace annotations that steer the Pods in it, one rule each; see `PodRule`. */
export const RULE_PREFIX = 'steer.node-agent.bowline.dev/';

/** AGENT_LABEL, on a Node, names the agent that simulates its kubelet. */
export const AGENT_LABEL = 'node-agent.bowline.dev/agent';

/** PodBehaviour overrides what a Pod does by default. */
export type PodBehaviour =
  /** Runs and is ready, even where its restart policy would let it complete. */
  | { readonly do: 'run' }
  /** Stays Pending. A Pod that already runs continues. */
  | {
      readonly do: 'hold';
      /** The waiting reason of the containers, for example `ImagePullBackOff`. Defaults to `ContainerCreating`. */
      readonly reason?: string | undefined;
      readonly message?: string | undefined;
    }
  /** Runs, but is not ready. */
  | { readonly do: 'not-ready'; readonly containers?: readonly string[] | undefined }
  /** Containers exit and are restarted forever (CrashLoopBackOff); if nothing restarts them, the Pod fails. */
  | {
      readonly do: 'crash';
      /** The affected containers, including init containers. Defaults to all but init containers. */
      readonly containers?: readonly string[] | undefined;
      /** Defaults to 1. */
      readonly exitCode?: number | undefined;
      /** The minimum number of restarts to report. Defaults to one more than before. */
      readonly restartCount?: number | undefined;
    }
  /** Containers run, then exit; the restart policy decides what follows. */
  | {
      readonly do: 'complete';
      /** The affected containers. Defaults to all but init containers. */
      readonly containers?: readonly string[] | undefined;
      /** Defaults to 0. */
      readonly exitCode?: number | undefined;
    }
  /** The Pod is Failed: rejected by the node if it does not run yet, otherwise with its containers terminated. */
  | {
      readonly do: 'fail';
      /** For example `UnexpectedAdmissionError`. Defaults to none. */
      readonly reason?: string | undefined;
      readonly message?: string | undefined;
      /** Defaults to 1. */
      readonly exitCode?: number | undefined;
    }
  /** The Pod is Failed with reason Evicted, as on a node under resource pressure. */
  | { readonly do: 'evict'; readonly message?: string | undefined }
  /** A deletion does not complete: the Pod stays Terminating. Can be combined with any other behaviour. */
  | { readonly do: 'hang-deletion' };

/** SteeringRule is the value of a Namespace's steering annotation: a behaviour and the objects it applies to. */
export interface SteeringRule<Behaviour> {
  /** The name of one object. Defaults to any. */
  readonly name?: string | undefined;
  /** A label selector in string form. Defaults to any. */
  readonly selector?: string | undefined;
  readonly behaviour: Behaviour;
}

/** PodRule is a rule for Pods. */
export type PodRule = SteeringRule<PodBehaviour>;

/**
 * NodeBehaviour overrides a node's readiness: `not-ready` reports it; `silent` is a dead node without heartbeats whose Pods are
 * not updated.
 */
export type NodeBehaviour = 'ready' | 'not-ready' | 'silent';

type FieldType = 'text' | 'count' | 'names';

/** BehaviourFields lists the fields of each behaviour of a kind of object. */
export type BehaviourFields<Verb extends string> = Readonly<Record<Verb, Readonly<Record<string, FieldType>>>>;

const FIELDS: BehaviourFields<PodBehaviour['do']> = {
  run: {},
  hold: { reason: 'text', message: 'text' },
  'not-ready': { containers: 'names' },
  crash: { containers: 'names', exitCode: 'count', restartCount: 'count' },
  complete: { containers: 'names', exitCode: 'count' },
  fail: { reason: 'text', message: 'text', exitCode: 'count' },
  evict: { message: 'text' },
  'hang-deletion': {},
};

const CHECKS: Readonly<Record<FieldType, readonly [(value: unknown) => boolean, string]>> = {
  text: [(value) => typeof value === 'string', 'a string'],
  count: [
    // The API server stores them in 32 bits and would reject the whole status.
    (value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) < 2 ** 31,
    'a non-negative integer that fits into 32 bits',
  ],
  names: [
    (value) => Array.isArray(value) && value.every((name) => typeof name === 'string'),
    'a list of container names',
  ],
};

/**
 * parseBehaviours parses a behaviour annotation: words (`crash`, `crash,hang-deletion`), JSON for details
 * (`{"do":"crash","containers":["app"]}`), or a JSON list. Throws BOWLINE_STEERING_INVALID.
 */
export function parseBehaviours<B>(text: string, check: (value: unknown) => B): readonly B[] {
  const trimmed = text.trim();
  if (!/^[[{]/.test(trimmed)) return trimmed.split(',').map((word) => check({ do: word.trim() }));
  const value = parseJson(trimmed);
  return Array.isArray(value) ? value.map(check) : [check(value)];
}

/** parsePodBehaviours parses the behaviour annotation of a Pod. Throws BOWLINE_STEERING_INVALID. */
export function parsePodBehaviours(text: string): readonly PodBehaviour[] {
  return parseBehaviours(text, checkPodBehaviour);
}

/** parseRule parses a rule of a Namespace. Throws BOWLINE_STEERING_INVALID. */
export function parseRule<B>(text: string, check: (value: unknown) => B): SteeringRule<B> {
  const value = parseJson(text);
  const { name, selector, behaviour, ...others } = isObject(value) ? value : refuse('a rule must be a JSON object');
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) refuse(`a rule has no field "${unknown}"; it has name, selector and behaviour`);
  for (const [field, given] of Object.entries({ name, selector })) {
    if (given !== undefined && typeof given !== 'string') refuse(`"${field}" of a rule must be a string`);
  }
  // Both were just checked to be strings or absent.
  return { name, selector, behaviour: check(behaviour) } as SteeringRule<B>;
}

/** parsePodRule parses a rule for Pods. Throws BOWLINE_STEERING_INVALID. */
export function parsePodRule(text: string): PodRule {
  return parseRule(text, checkPodBehaviour);
}

/** parseNodeBehaviour parses a Node's behaviour annotation. Throws BOWLINE_STEERING_INVALID. */
export function parseNodeBehaviour(text: string | undefined): NodeBehaviour {
  if (text === undefined || text === 'ready') return 'ready';
  if (text === 'not-ready' || text === 'silent') return text;
  return refuse(`unknown node behaviour "${text}"; use ready, not-ready or silent`);
}

/** checkPodBehaviour rejects values that are not a behaviour, with a message that lists the valid ones. */
export function checkPodBehaviour(value: unknown): PodBehaviour {
  return checkBehaviour<PodBehaviour>(value, 'pod', FIELDS);
}

/** checkBehaviour rejects values that are not one of the given behaviours. */
export function checkBehaviour<B extends { readonly do: string }>(
  value: unknown,
  kind: string,
  table: BehaviourFields<B['do']>,
): B {
  const { do: verb, ...details } = isObject(value) ? value : refuse('a behaviour must be a name or a JSON object');
  if (typeof verb !== 'string' || !Object.hasOwn(table, verb)) {
    return refuse(`unknown ${kind} behaviour ${JSON.stringify(verb)}; use one of ${Object.keys(table).join(', ')}`);
  }
  const fields = table[verb as B['do']];
  for (const [field, given] of Object.entries(details)) {
    const type = Object.hasOwn(fields, field) ? fields[field] : undefined;
    if (type === undefined) {
      refuse(`"${verb}" has no field "${field}"; it has ${Object.keys(fields).join(', ') || 'none'}`);
    } else if (given !== undefined && !CHECKS[type][0](given)) {
      refuse(`"${field}" of "${verb}" must be ${CHECKS[type][1]}`);
    }
  }
  // Every field was checked against the table, which matches the type.
  return value as B;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return refuse('it is not JSON');
  }
}

function refuse(problem: string): never {
  throw new BowlineError('BOWLINE_STEERING_INVALID', `cannot steer the node agent: ${problem}`);
}
