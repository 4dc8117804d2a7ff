import type { KubernetesObject, Namespace, Pod } from '@bowline/kubernetes';
import { parseLabelSelector } from '@bowline/machinery';
import {
  BEHAVIOUR_ANNOTATION,
  type PodBehaviour,
  parsePodBehaviours,
  parsePodRule,
  RULE_PREFIX,
  type SteeringRule,
} from './behaviour.ts';

/** PodSteering is the effective steering of one Pod. */
export interface PodSteering {
  /** Undefined: the Pod has its default behaviour. */
  readonly behaviour: PodBehaviour | undefined;
  readonly deletionHangs: boolean;
}

/**
 * steeringOf computes the steering of a Pod: its own annotation takes precedence over the rules of its Namespace, and among those
 * the one whose annotation is last by name. Invalid steering holds the Pod, and the containers' status explains why.
 */
export function steeringOf(pod: Pod, namespace: Pick<Namespace, 'metadata'> | undefined): PodSteering {
  let behaviour: PodBehaviour | undefined;
  let deletionHangs = false;
  try {
    for (const each of [...rulesFor(pod, namespace, RULE_PREFIX, parsePodRule), ...ownBehaviours(pod)]) {
      if (each.do === 'hang-deletion') deletionHangs = true;
      else behaviour = each;
    }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { behaviour: { do: 'hold', reason: 'InvalidSteering', message }, deletionHangs: false };
  }
  return { behaviour, deletionHangs };
}

function ownBehaviours(pod: Pod): readonly PodBehaviour[] {
  const text = pod.metadata?.annotations?.[BEHAVIOUR_ANNOTATION];
  return text === undefined ? [] : parsePodBehaviours(text);
}

/** rulesFor returns the behaviours that the rules of a Namespace with a prefix set for an object, in order. */
export function rulesFor<B>(
  { metadata }: KubernetesObject,
  namespace: Pick<Namespace, 'metadata'> | undefined,
  prefix: string,
  parse: (text: string) => SteeringRule<B>,
): readonly B[] {
  const annotations = Object.entries(namespace?.metadata?.annotations ?? {});
  return annotations
    .filter(([key]) => key.startsWith(prefix))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, text]) => parse(text))
    .filter(({ name, selector }) => {
      if (name !== undefined && name !== metadata?.name) return false;
      return selector === undefined || parseLabelSelector(selector).matches(metadata?.labels);
    })
    .map((rule) => rule.behaviour);
}
