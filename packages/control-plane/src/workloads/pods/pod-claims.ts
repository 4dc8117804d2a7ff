import { keyString, type PersistentVolumeClaim, type Pod } from '@bowline/kubernetes';

/** PodClaim is a volume of a Pod that is a claim. */
export interface PodClaim {
  /** The name of the claim. */
  readonly name: string;
  /** Whether the claim is created for the Pod and deleted with it. */
  readonly isEphemeral: boolean;
}

/** podClaims returns the claims that a Pod uses. */
export function podClaims({ metadata, spec }: Pod): readonly PodClaim[] {
  return (spec?.volumes ?? []).flatMap(({ name, persistentVolumeClaim, ephemeral }): readonly PodClaim[] => {
    if (persistentVolumeClaim) return [{ name: persistentVolumeClaim.claimName, isEphemeral: false }];
    return ephemeral ? [{ name: `${metadata?.name ?? ''}-${name}`, isEphemeral: true }] : [];
  });
}

/** claimKeysOf returns the keys of the claims that a Pod uses, for indexes. */
export function claimKeysOf(pod: Pod): readonly string[] {
  const { namespace } = pod.metadata ?? {};
  return podClaims(pod).map(({ name }) => keyString({ namespace, name }));
}

/** foreignClaimProblem returns why a claim is not the one of a Pod's ephemeral volume; undefined if it is. */
export function foreignClaimProblem(pod: Pod, { metadata }: PersistentVolumeClaim): string | undefined {
  const isOwn = metadata?.ownerReferences?.some(({ uid, controller }) => controller && uid === pod.metadata?.uid);
  if (isOwn) return undefined;
  const { namespace, name } = metadata ?? {};
  return `PVC ${namespace}/${name} was not created for pod ${pod.metadata?.namespace}/${pod.metadata?.name} (pod is not owner)`;
}
