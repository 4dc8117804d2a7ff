import { randomBytes } from 'node:crypto';
import { Namespace, Node } from '@bowline/kubernetes';
import { type Clock, parseLabelSelector, systemClock } from '@bowline/machinery';
import { BowlineError } from '@bowline/runtime';
import { type Client, isNotFound } from '@bowline/runtime/client';
import {
  BEHAVIOUR_ANNOTATION,
  checkPodBehaviour,
  type NodeBehaviour,
  type PodBehaviour,
  RULE_PREFIX,
  type SteeringRule,
} from './behaviour.ts';
import { DEFAULT_AGENT, type NodeTemplate, nodeObject } from './node-object.ts';
import { checkVolumeBehaviour, VOLUME_RULE_PREFIX, type VolumeBehaviour } from './volumes/volume-behaviour.ts';

/** Steered is a steering that is in effect until it is released. */
export interface Steered extends AsyncDisposable {
  /** release removes the steering. What has ended stays ended. */
  release(): Promise<void>;
}

/** PodTarget selects Pods, including those that do not exist yet. Defaults to all in the namespace. */
export interface PodTarget {
  /** Defaults to the namespace of the steering. */
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  /** A label selector in string form. */
  readonly selector?: string | undefined;
}

/** The details of a behaviour besides its name. */
type Details<Verb extends PodBehaviour['do']> = Omit<Extract<PodBehaviour, { readonly do: Verb }>, 'do'>;

/** PodControls steers Pods on the nodes of an agent; see `PodBehaviour` for the meaning of each method. */
export interface PodControls {
  run(target?: PodTarget): Promise<Steered>;
  hold(target?: PodTarget, details?: Details<'hold'>): Promise<Steered>;
  notReady(target?: PodTarget, details?: Details<'not-ready'>): Promise<Steered>;
  crash(target?: PodTarget, details?: Details<'crash'>): Promise<Steered>;
  complete(target?: PodTarget, details?: Details<'complete'>): Promise<Steered>;
  fail(target?: PodTarget, details?: Details<'fail'>): Promise<Steered>;
  evict(target?: PodTarget, details?: Details<'evict'>): Promise<Steered>;
  hangDeletion(target?: PodTarget): Promise<Steered>;
}

/** ClaimTarget selects PersistentVolumeClaims, including those that do not exist yet. Defaults to all in the namespace. */
export type ClaimTarget = PodTarget;

/** VolumeControls steers the provisioning of volumes; see `VolumeBehaviour` for the meaning of each method. */
export interface VolumeControls {
  hold(target?: ClaimTarget): Promise<Steered>;
  fail(target?: ClaimTarget, details?: Omit<Extract<VolumeBehaviour, { readonly do: 'fail' }>, 'do'>): Promise<Steered>;
}

/** NodeControls adds nodes and steers them. */
export interface NodeControls {
  /** add adds a node to the agent; releasing it deletes the Node. */
  add(node: NodeTemplate): Promise<Steered>;
  /** notReady makes a node report that it is not ready. */
  notReady(name: string): Promise<Steered>;
  /** silence makes a node dead: no heartbeat, and its Pods are not changed, not even those being deleted. */
  silence(name: string): Promise<Steered>;
}

/** Steering lets tests, in any process, control a node agent. */
export interface Steering {
  readonly pods: PodControls;
  readonly volumes: VolumeControls;
  readonly nodes: NodeControls;
}

/** SteeringOptions configures what to steer. */
export interface SteeringOptions {
  /** The namespace of targets without one. Defaults to none: such targets are rejected. */
  readonly namespace?: string | undefined;
  /** The agent's name. Defaults to `bowline`. */
  readonly agent?: string | undefined;
  /** Orders rules by time: the last one wins. Defaults to the system clock. */
  readonly clock?: Clock | undefined;
}

/**
 * steering steers the node agent of a cluster through annotations of Namespaces and Nodes, so that it works from any process
 * without a connection to the agent. The client must be allowed to patch namespaces and to create, patch and delete nodes.
 *
 * @example
 * const { pods } = steering(client, { namespace: 'demo' });
 * await using _ = await pods.hold({ selector: 'app=web' });
 */
export function steering(client: Client, options: SteeringOptions = {}): Steering {
  const { clock = systemClock, agent = DEFAULT_AGENT } = options;
  let count = 0;
  const addRule = async (
    prefix: string,
    target: PodTarget = {},
    behaviour: PodBehaviour | VolumeBehaviour,
  ): Promise<Steered> => {
    const { namespace = options.namespace, name, selector } = target;
    if (namespace === undefined) {
      throw new BowlineError('BOWLINE_STEERING_INVALID', 'cannot steer the node agent: specify a namespace');
    }
    // Reject here, where the caller sees it, what the agent could not parse.
    if (selector !== undefined) parseLabelSelector(selector);
    const rule: SteeringRule<unknown> = { name, selector, behaviour };
    // Rule names sort in order of creation: the time first, then the count, then a process-specific part.
    const order = [clock.now().toString(36).padStart(10, '0'), (++count).toString(36).padStart(4, '0')];
    const annotation = `${prefix}${[...order, randomBytes(3).toString('hex')].join('-')}`;
    const set = (value: string | null): Promise<unknown> =>
      client.patch(Namespace, { name: namespace }, annotate(annotation, value));
    await set(JSON.stringify(rule));
    return steered(() => set(null));
  };
  const steer = async (target: PodTarget | undefined, behaviour: PodBehaviour): Promise<Steered> =>
    addRule(RULE_PREFIX, target, checkPodBehaviour(behaviour));
  const steerVolumes = async (target: ClaimTarget | undefined, behaviour: VolumeBehaviour): Promise<Steered> =>
    addRule(VOLUME_RULE_PREFIX, target, checkVolumeBehaviour(behaviour));
  const steerNode = async (name: string, behaviour: NodeBehaviour): Promise<Steered> => {
    const set = (value: string | null): Promise<unknown> =>
      client.patch(Node, { name }, annotate(BEHAVIOUR_ANNOTATION, value));
    await set(behaviour);
    return steered(() => set(null));
  };
  return {
    pods: {
      run: (target) => steer(target, { do: 'run' }),
      hold: (target, details) => steer(target, { do: 'hold', ...details }),
      notReady: (target, details) => steer(target, { do: 'not-ready', ...details }),
      crash: (target, details) => steer(target, { do: 'crash', ...details }),
      complete: (target, details) => steer(target, { do: 'complete', ...details }),
      fail: (target, details) => steer(target, { do: 'fail', ...details }),
      evict: (target, details) => steer(target, { do: 'evict', ...details }),
      hangDeletion: (target) => steer(target, { do: 'hang-deletion' }),
    },
    volumes: {
      hold: (target) => steerVolumes(target, { do: 'hold' }),
      fail: (target, details) => steerVolumes(target, { do: 'fail', ...details }),
    },
    nodes: {
      async add(node) {
        await client.create(Node, nodeObject(agent, node));
        return steered(() => client.delete(Node, { name: node.name }));
      },
      notReady: (name) => steerNode(name, 'not-ready'),
      silence: (name) => steerNode(name, 'silent'),
    },
  };
}

function annotate(name: string, value: string | null) {
  return { type: 'merge', body: { metadata: { annotations: { [name]: value } } } } as const;
}

function steered(undo: () => Promise<unknown>): Steered {
  let released: Promise<void> | undefined;
  const release = (): Promise<void> => {
    released ??= undo().then(
      () => undefined,
      (error: unknown) => {
        // The steered object was deleted, and the steering with it.
        if (!isNotFound(error)) throw error;
      },
    );
    return released;
  };
  return { release, [Symbol.asyncDispose]: release };
}
