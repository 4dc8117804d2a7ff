import type { KubernetesObject, Namespace } from '@bowline/kubernetes';
import {
  BEHAVIOUR_ANNOTATION,
  type BehaviourFields,
  checkBehaviour,
  parseBehaviours,
  parseRule,
  type SteeringRule,
} from '../behaviour.ts';
import { rulesFor } from '../steering.ts';

/** VOLUME_RULE_PREFIX is the prefix of Namespace annotations that steer the volumes of its claims; see `VolumeRule`. */
export const VOLUME_RULE_PREFIX = 'steer-volumes.node-agent.bowline.dev/';

/** VolumeBehaviour overrides what the provisioner does for a claim by default. */
export type VolumeBehaviour =
  /** No volume is provisioned: the claim stays Pending. A released volume is not deleted. */
  | { readonly do: 'hold' }
  /** Provisioning fails, and so does the deletion of a released volume. An event has the message. */
  | {
      readonly do: 'fail';
      /** Defaults to one that names the cause. */
      readonly message?: string | undefined;
    };

/**
 * VolumeRule is a rule for the claims of a Namespace. A released volume is subject to the rules for the name of its claim;
 * the labels of the claim are not known any more.
 */
export type VolumeRule = SteeringRule<VolumeBehaviour>;

const FIELDS: BehaviourFields<VolumeBehaviour['do']> = { hold: {}, fail: { message: 'text' } };

/** checkVolumeBehaviour rejects values that are not a behaviour of volumes. */
export function checkVolumeBehaviour(value: unknown): VolumeBehaviour {
  return checkBehaviour<VolumeBehaviour>(value, 'volume', FIELDS);
}

/**
 * volumeBehaviourOf computes the steering of a claim: its own annotation takes precedence over the rules of its Namespace,
 * and among those the last by name. Invalid steering makes provisioning fail, and the event explains why.
 */
export function volumeBehaviourOf(
  claim: KubernetesObject,
  namespace: Pick<Namespace, 'metadata'> | undefined,
): VolumeBehaviour | undefined {
  const own = claim.metadata?.annotations?.[BEHAVIOUR_ANNOTATION];
  try {
    const rules = rulesFor(claim, namespace, VOLUME_RULE_PREFIX, (text) => parseRule(text, checkVolumeBehaviour));
    return [...rules, ...(own === undefined ? [] : parseBehaviours(own, checkVolumeBehaviour))].at(-1);
  } catch (error) {
    return { do: 'fail', message: error instanceof Error ? error.message : String(error) };
  }
}
