import type { PersistentVolumeClaimSpec, Volume, VolumeProjection } from '@bowline/kubernetes';
import type { PartialObject } from '../../shared/partial-object.ts';
import { dropEmpty, dropFalse } from '../../shared/zero-values.ts';
import { pullsAlways } from './container-defaults.ts';

/** Readable by all, writable by the owner: 0644. */
const FILE_MODE = 0o644;

/** volumeDefaults sets the defaults of a volume; one without a source is an empty directory. */
export function volumeDefaults(volume: PartialObject<Volume>): void {
  const { secret, configMap, downwardAPI, projected, hostPath, ephemeral, image, iscsi, rbd, azureDisk, scaleIO } =
    volume;
  if (Object.keys(volume).every((name) => name === 'name' || volume[name as keyof Volume] === undefined))
    volume.emptyDir = {};
  if (volume.emptyDir) dropEmpty(volume.emptyDir, 'medium');
  if (volume.persistentVolumeClaim) dropFalse(volume.persistentVolumeClaim, 'readOnly');
  for (const source of [secret, configMap, downwardAPI, projected]) if (source) source.defaultMode ??= FILE_MODE;
  itemDefaults(downwardAPI);
  projected?.sources?.forEach(projectionDefaults);
  if (hostPath) hostPath.type ??= '';
  const template = ephemeral?.volumeClaimTemplate;
  if (template) {
    template.metadata ??= {};
    template.spec ??= {};
    claimSpecDefaults(template.spec);
  }
  if (image) image.pullPolicy ||= pullsAlways(image.reference ?? '') ? 'Always' : 'IfNotPresent';
  if (iscsi) iscsi.iscsiInterface ||= 'default';
  if (rbd) {
    rbd.pool ||= 'rbd';
    rbd.user ||= 'admin';
    rbd.keyring ||= '/etc/ceph/keyring';
  }
  if (azureDisk) {
    azureDisk.cachingMode ??= 'ReadWrite';
    azureDisk.fsType ??= 'ext4';
    azureDisk.kind ??= 'Shared';
    azureDisk.readOnly ??= false;
  }
  if (scaleIO) {
    scaleIO.storageMode ||= 'ThinProvisioned';
    scaleIO.fsType ||= 'xfs';
  }
}

/** claimSpecDefaults sets the defaults of the spec of a claim or a claim template. */
export function claimSpecDefaults(spec: PartialObject<PersistentVolumeClaimSpec>): void {
  spec.volumeMode ??= 'Filesystem';
  spec.resources ??= {};
}

function projectionDefaults({
  serviceAccountToken,
  downwardAPI,
  podCertificate,
}: PartialObject<VolumeProjection>): void {
  if (serviceAccountToken) serviceAccountToken.expirationSeconds ??= 3_600;
  if (podCertificate) podCertificate.maxExpirationSeconds ??= 86_400;
  itemDefaults(downwardAPI);
}

function itemDefaults(source: PartialObject<NonNullable<VolumeProjection['downwardAPI']>> | undefined): void {
  for (const { fieldRef, resourceFieldRef } of source?.items ?? []) {
    if (fieldRef) fieldRef.apiVersion ||= 'v1';
    if (resourceFieldRef) resourceFieldRef.divisor ??= '0';
  }
}
