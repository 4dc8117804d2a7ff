import { keyOf, keyString, PersistentVolume, PersistentVolumeClaim, Pod, StorageClass } from '@bowline/kubernetes';
import { defaultStorageClassName, storageClassOf } from '../../server/volumes/storage-class-of.ts';
import { isFinished } from '../pods/pod-state.ts';
import { bind, recordEvent, reportClaim } from './bind.ts';
import { isReservedFor, matchVolume, requestProblem } from './match-volume.ts';
import type { BinderContext } from './reconcile.ts';
import {
  BIND_COMPLETED,
  hasAnnotation,
  IN_TREE,
  isDelayed,
  PROVISIONERS,
  SELECTED_NODE,
} from './volume-annotations.ts';

/** syncClaim brings a claim one step further: to a volume, to a provisioner, or to the report why it has to wait. */
export async function syncClaim(context: BinderContext, claim: PersistentVolumeClaim): Promise<void> {
  if (hasAnnotation(claim, BIND_COMPLETED)) await syncBoundClaim(context, claim);
  else if (claim.spec?.volumeName) await syncRequest(context, claim, claim.spec.volumeName);
  else await syncUnboundClaim(context, claim);
}

async function syncUnboundClaim(context: BinderContext, claim: PersistentVolumeClaim): Promise<void> {
  const { get, list, live } = context;
  const onlyReserved = isDelayed(claim, (name) => get(StorageClass, { name }));
  const volume = matchVolume(claim, list(PersistentVolume), { onlyReserved });
  if (volume) {
    await bind(context, volume, claim);
    return;
  }
  const className = storageClassOf(claim);
  const storageClassName = className === undefined ? defaultStorageClassName(list(StorageClass)) : undefined;
  if (storageClassName !== undefined) {
    // A default class that is newer than the claim.
    const body = { metadata: { resourceVersion: claim.metadata?.resourceVersion }, spec: { storageClassName } };
    await live.patch(PersistentVolumeClaim, keyOf(claim), { type: 'merge', body });
    return;
  }
  if (onlyReserved && !hasAnnotation(claim, SELECTED_NODE)) {
    recordEvent(context, PersistentVolumeClaim, claim, { type: 'Normal', ...awaitedConsumer(context, claim) });
  } else if (className) {
    await requestVolume(context, claim, className);
    return;
  } else {
    const note = 'no persistent volumes available for this claim and no storage class is set';
    recordEvent(context, PersistentVolumeClaim, claim, { type: 'Normal', reason: 'FailedBinding', note });
  }
  await reportClaim(context, claim, 'Pending');
}

function awaitedConsumer({ list }: BinderContext, claim: PersistentVolumeClaim): { reason: string; note: string } {
  const names = list(Pod, { by: { claim: keyString(keyOf(claim)) } })
    .filter((pod) => !isFinished(pod) && !pod.spec?.nodeName)
    .map(({ metadata }) => metadata.name);
  if (names.length === 0) {
    return { reason: 'WaitForFirstConsumer', note: 'waiting for first consumer to be created before binding' };
  }
  const pods = names.length > 1 ? 'pods' : 'pod';
  return { reason: 'WaitForPodScheduled', note: `waiting for ${pods} ${names.join(',')} to be scheduled` };
}

/** requestVolume asks the provisioner of a class for a volume: no provisioner is part of this controller. */
async function requestVolume(context: BinderContext, claim: PersistentVolumeClaim, name: string): Promise<void> {
  const found = context.get(StorageClass, { name });
  const { provisioner = '' } = found ?? {};
  if (!found || provisioner.startsWith(IN_TREE)) {
    const note = found
      ? `no volume plugin matched name: ${provisioner}`
      : `storageclass.storage.k8s.io "${name}" not found`;
    recordEvent(context, PersistentVolumeClaim, claim, { type: 'Warning', reason: 'ProvisioningFailed', note });
    return;
  }
  if (PROVISIONERS.some((annotation) => claim.metadata?.annotations?.[annotation] !== provisioner)) {
    const annotations = Object.fromEntries(PROVISIONERS.map((annotation) => [annotation, provisioner]));
    const body = { metadata: { resourceVersion: claim.metadata?.resourceVersion, annotations } };
    await context.live.patch(PersistentVolumeClaim, keyOf(claim), { type: 'merge', body });
  }
  const note = `Waiting for a volume to be created either by the external provisioner '${provisioner}' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.`;
  recordEvent(context, PersistentVolumeClaim, claim, { type: 'Normal', reason: 'ExternalProvisioning', note });
}

/** syncRequest binds a claim to the volume that its user named, as soon as possible. */
async function syncRequest(context: BinderContext, claim: PersistentVolumeClaim, name: string): Promise<void> {
  const volume = context.get(PersistentVolume, { name });
  if (volume?.spec?.claimRef) {
    if (isReservedFor(volume, claim)) {
      await bind(context, volume, claim);
      return;
    }
    const note = `volume "${name}" already bound to a different claim.`;
    recordEvent(context, PersistentVolumeClaim, claim, { type: 'Warning', reason: 'FailedBinding', note });
  } else if (volume) {
    const problem = requestProblem(volume, claim);
    if (problem === undefined) {
      await bind(context, volume, claim);
      return;
    }
    const note = `Cannot bind to requested volume "${name}": ${problem}`;
    recordEvent(context, PersistentVolumeClaim, claim, { type: 'Warning', reason: 'VolumeMismatch', note });
  }
  await reportClaim(context, claim, 'Pending');
}

/** syncBoundClaim completes or restores a binding; a claim without its volume is lost for good. */
async function syncBoundClaim(context: BinderContext, claim: PersistentVolumeClaim): Promise<void> {
  const { volumeName: name } = claim.spec ?? {};
  const volume = name ? context.get(PersistentVolume, { name }) : undefined;
  const { claimRef } = volume?.spec ?? {};
  if (volume && (!claimRef || claimRef.uid === claim.metadata?.uid)) {
    await bind(context, volume, claim);
    return;
  }
  if (claim.status?.phase === 'Lost') return;
  await reportClaim(context, claim, 'Lost');
  const [reason, note] = volume
    ? ['ClaimMisbound', 'Two claims are bound to the same volume, this one is bound incorrectly']
    : [
        'ClaimLost',
        `Bound claim has lost ${name ? 'its' : 'reference to'} PersistentVolume. Data on the volume is lost!`,
      ];
  recordEvent(context, PersistentVolumeClaim, claim, { type: 'Warning', reason, note });
}
