import type { PersistentVolume } from '@bowline/kubernetes';
import { formatTime } from '@bowline/machinery';
import { storageClassOf } from '../../../volumes/storage-class-of.ts';
import { type KindRules, statusStrategy } from '../../built-in-strategy.ts';
import { AGE, as, column, wide } from '../shared/column.ts';
import { accessModesText } from './access-modes.ts';
import { volumeChangeProblems, volumeProblems } from './persistent-volume-problems.ts';

/** persistentVolumeRules holds the rules of PersistentVolumes, which outlive pods. */
export const persistentVolumeRules: KindRules = {
  countsGeneration: false,
  returnsDeletedObject: true,
  applyDefaults(object) {
    const volume = as<PersistentVolume>(object);
    volume.spec ??= {};
    volume.spec.persistentVolumeReclaimPolicy ??= 'Retain';
    volume.spec.volumeMode ??= 'Filesystem';
    if (volume.spec.hostPath) volume.spec.hostPath.type ??= '';
    volume.status ??= {};
    volume.status.phase ??= 'Pending';
  },
  prepareForCreate(object, { now }) {
    object.status = { phase: 'Pending', lastPhaseTransitionTime: formatTime(now) };
  },
  validate(object, old) {
    const volume = as<PersistentVolume>(object);
    const problems = volumeProblems(volume);
    return old ? [...problems, ...volumeChangeProblems(volume, as<PersistentVolume>(old))] : problems;
  },
  warningsOf: (object) =>
    as<PersistentVolume>(object).spec?.persistentVolumeReclaimPolicy === 'Recycle'
      ? [
          'spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.',
        ]
      : [],
  subresources: {
    status: (whole) => ({
      strategy: statusStrategy({ ...whole, validate: () => [] }, (object, old, { now }) => {
        const { status } = as<PersistentVolume>(object);
        const before = as<PersistentVolume>(old).status;
        if (status && status.phase !== before?.phase) status.lastPhaseTransitionTime = formatTime(now);
      }),
    }),
  },
  columns: [
    column(
      'Capacity',
      'Capacity of the volume.',
      (object) => as<PersistentVolume>(object).spec?.capacity?.storage ?? '0',
    ),
    column('Access Modes', 'Access modes of the volume.', (object) =>
      accessModesText(as<PersistentVolume>(object).spec?.accessModes),
    ),
    column(
      'Reclaim Policy',
      'What happens to the volume when it is released from its claim.',
      (object) => as<PersistentVolume>(object).spec?.persistentVolumeReclaimPolicy ?? '',
    ),
    column('Status', 'Phase of the volume.', (object) =>
      object.metadata?.deletionTimestamp ? 'Terminating' : (as<PersistentVolume>(object).status?.phase ?? ''),
    ),
    column('Claim', 'Claim that is bound to the volume.', (object) => {
      const { claimRef } = as<PersistentVolume>(object).spec ?? {};
      return claimRef ? `${claimRef.namespace ?? ''}/${claimRef.name ?? ''}` : '';
    }),
    column('StorageClass', 'Storage class of the volume.', (object) => storageClassOf(object) ?? ''),
    column(
      'VolumeAttributesClass',
      'Volume attributes class of the volume.',
      (object) => as<PersistentVolume>(object).spec?.volumeAttributesClassName ?? '<unset>',
    ),
    column('Reason', 'Reason of the failure.', (object) => as<PersistentVolume>(object).status?.reason ?? ''),
    AGE,
    wide(
      'VolumeMode',
      'Whether the volume is a file system or a block device.',
      (object) => as<PersistentVolume>(object).spec?.volumeMode ?? '<unset>',
    ),
  ],
};
