import {
  type ControllerRevision,
  type PersistentVolumeClaim,
  type Pod,
  type PodTemplateSpec,
  StatefulSet,
} from '@bowline/kubernetes';
import { ownerReference } from '@bowline/runtime/writing';
import { templateOf } from '../pods/controller-revisions.ts';
import { podFrom } from '../pods/pod-control.ts';

/** REVISION_LABEL holds the name of the revision that a Pod was created from. */
export const REVISION_LABEL = 'controller-revision-hash';

/** ordinalOf returns a Pod's ordinal in its set; undefined if its name is not one of the set's. */
export function ordinalOf(set: StatefulSet, pod: Pod): number | undefined {
  const prefix = `${set.metadata?.name ?? ''}-`;
  const name = pod.metadata?.name ?? '';
  const rest = name.startsWith(prefix) ? name.slice(prefix.length) : '';
  return /^(?:0|[1-9]\d{0,9})$/.test(rest) ? Number(rest) : undefined;
}

/** revisionOf returns the name of the revision that a Pod was created from. */
export function revisionOf({ metadata }: Pod): string | undefined {
  return metadata?.labels?.[REVISION_LABEL];
}

/** podAt returns the Pod of an ordinal: its name, its address and its volumes are always the same. */
export function podAt(set: StatefulSet, ordinal: number, revision: ControllerRevision): Pod {
  const name = `${set.metadata?.name ?? ''}-${ordinal}`;
  const template: PodTemplateSpec = templateOf(revision) ?? set.spec?.template ?? {};
  const labels = {
    'statefulset.kubernetes.io/pod-name': name,
    'apps.kubernetes.io/pod-index': String(ordinal),
    [REVISION_LABEL]: revision.metadata?.name ?? '',
  };
  const pod = podFrom(template, { resource: StatefulSet, object: set }, { name, labels });
  const claims = claimsAt(set, ordinal).map(({ volume, claim }) => ({
    name: volume,
    persistentVolumeClaim: { claimName: claim.metadata?.name ?? '' },
  }));
  const taken = new Set(claims.map((volume) => volume.name));
  const volumes = [...(pod.spec?.volumes ?? []).filter((volume) => !taken.has(volume.name)), ...claims];
  return {
    ...pod,
    spec: {
      ...pod.spec,
      containers: pod.spec?.containers ?? [],
      hostname: name,
      subdomain: set.spec?.serviceName,
      ...(volumes.length > 0 ? { volumes } : {}),
    },
  };
}

/** claimsAt returns the PersistentVolumeClaims of an ordinal, which outlive its Pods. */
export function claimsAt(
  set: StatefulSet,
  ordinal: number,
): readonly { readonly volume: string; readonly claim: PersistentVolumeClaim }[] {
  const { name = '', namespace } = set.metadata ?? {};
  const isDeletedWithSet = set.spec?.persistentVolumeClaimRetentionPolicy?.whenDeleted === 'Delete';
  return (set.spec?.volumeClaimTemplates ?? []).map(({ metadata, spec }) => {
    const volume = metadata?.name ?? '';
    return {
      volume,
      claim: {
        metadata: {
          name: `${volume}-${name}-${ordinal}`,
          namespace,
          labels: { ...metadata?.labels, ...set.spec?.selector.matchLabels },
          annotations: { ...metadata?.annotations },
          ...(isDeletedWithSet ? { ownerReferences: [ownerReference({ resource: StatefulSet, object: set })] } : {}),
        },
        spec,
      },
    };
  });
}
