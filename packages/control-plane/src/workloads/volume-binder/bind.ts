import {
  type KubernetesObject,
  keyOf,
  PersistentVolume,
  PersistentVolumeClaim,
  type Resource,
} from '@bowline/kubernetes';
import type { EventMessage } from '@bowline/runtime/writing';
import { reportStatus } from '../pods/report-status.ts';
import { isReservedFor } from './match-volume.ts';
import type { BinderContext } from './reconcile.ts';
import { BIND_COMPLETED, BOUND_BY_CONTROLLER, hasAnnotation } from './volume-annotations.ts';

/** The name of the controller in events. */
const NAME = 'persistentvolume-controller';

type VolumePhase = NonNullable<NonNullable<PersistentVolume['status']>['phase']>;
type ClaimPhase = NonNullable<NonNullable<PersistentVolumeClaim['status']>['phase']>;

/**
 * bind writes a binding to the volume and then to the claim, each with its phase. What is already written stays: an
 * interrupted binding is completed by the next run.
 */
export async function bind(
  context: BinderContext,
  volume: PersistentVolume,
  claim: PersistentVolumeClaim,
): Promise<void> {
  const { live } = context;
  const reservation = reservationFor(volume, claim);
  const reserved = reservation
    ? await live.patch(PersistentVolume, keyOf(volume), { type: 'merge', body: reservation })
    : volume;
  const bound = await reportVolume(context, reserved, 'Bound');
  const patch = bindingOf(claim, bound.metadata?.name ?? '');
  const completed = patch
    ? await live.patch(PersistentVolumeClaim, keyOf(claim), { type: 'merge', body: patch })
    : claim;
  await reportClaim(context, completed, 'Bound', bound);
}

/** reservationFor returns the patch that binds a volume to a claim; undefined if it is bound to it. */
export function reservationFor(volume: PersistentVolume, claim: PersistentVolumeClaim): object | undefined {
  const { name, namespace, uid, resourceVersion } = claim.metadata ?? {};
  if (isReservedFor(volume, claim) && volume.spec?.claimRef?.uid === uid) return undefined;
  const claimRef = { kind: 'PersistentVolumeClaim', apiVersion: 'v1', namespace, name, uid, resourceVersion };
  const annotations = isReservedFor(volume, claim) ? undefined : { [BOUND_BY_CONTROLLER]: 'yes' };
  return { metadata: { resourceVersion: volume.metadata?.resourceVersion, annotations }, spec: { claimRef } };
}

function bindingOf(claim: PersistentVolumeClaim, volumeName: string): object | undefined {
  const isNamed = claim.spec?.volumeName === volumeName;
  if (isNamed && hasAnnotation(claim, BIND_COMPLETED)) return undefined;
  const annotations = { [BIND_COMPLETED]: 'yes', ...(isNamed ? {} : { [BOUND_BY_CONTROLLER]: 'yes' }) };
  return { metadata: { resourceVersion: claim.metadata?.resourceVersion, annotations }, spec: { volumeName } };
}

/** unbind removes a binding from a volume; one that a user requested stays reserved for the claim's name. */
export async function unbind(context: BinderContext, volume: PersistentVolume): Promise<void> {
  const { resourceVersion } = volume.metadata ?? {};
  const body = hasAnnotation(volume, BOUND_BY_CONTROLLER)
    ? { metadata: { resourceVersion, annotations: { [BOUND_BY_CONTROLLER]: null } }, spec: { claimRef: null } }
    : { metadata: { resourceVersion }, spec: { claimRef: { uid: null } } };
  const released = await context.live.patch(PersistentVolume, keyOf(volume), { type: 'merge', body });
  await reportVolume(context, released, 'Available');
}

/** reportVolume writes the phase of a volume. */
export function reportVolume(
  { live }: BinderContext,
  volume: PersistentVolume,
  phase: VolumePhase,
  message?: string,
): Promise<PersistentVolume> {
  if (volume.status?.phase === phase) return Promise.resolve(volume);
  const { message: _, lastPhaseTransitionTime, ...status } = volume.status ?? {};
  return reportStatus(live, PersistentVolume, volume, {
    ...status,
    phase,
    lastPhaseTransitionTime,
    ...(message === undefined ? {} : { message }),
  });
}

/** reportClaim writes the phase of a claim, and what its volume offers. */
export async function reportClaim(
  { live }: BinderContext,
  claim: PersistentVolumeClaim,
  phase: ClaimPhase,
  volume?: PersistentVolume,
): Promise<void> {
  const { accessModes: _, capacity, currentVolumeAttributesClassName: current, ...rest } = claim.status ?? {};
  if (!volume) {
    await reportStatus(live, PersistentVolumeClaim, claim, { ...rest, phase });
    return;
  }
  const { accessModes, capacity: offered, volumeAttributesClassName } = volume.spec ?? {};
  // Later differences are intentional: the size of the file system may differ from that of its device.
  const becomesBound = claim.status?.phase !== phase;
  const attributes = claim.status?.phase === 'Pending' ? volumeAttributesClassName : current;
  await reportStatus(live, PersistentVolumeClaim, claim, {
    ...rest,
    phase,
    accessModes,
    capacity: becomesBound ? offered : capacity,
    ...(attributes === undefined ? {} : { currentVolumeAttributesClassName: attributes }),
  });
}

/** recordEvent records an event about a claim or volume. */
export function recordEvent(
  { deps }: BinderContext,
  resource: Resource,
  object: KubernetesObject,
  message: EventMessage,
): void {
  deps.events.record(NAME, resource, object, message);
}
