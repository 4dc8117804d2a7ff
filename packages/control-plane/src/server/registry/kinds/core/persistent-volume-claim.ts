import type { PersistentVolumeClaim } from '@bowline/kubernetes';
import { canonicalJson, compareQuantities, type FieldProblem, parseQuantity } from '@bowline/machinery';
import { CLASS_ANNOTATION, storageClassOf } from '../../../volumes/storage-class-of.ts';
import { type KindRules, statusStrategy } from '../../built-in-strategy.ts';
import { AGE, as, column, wide } from '../shared/column.ts';
import type { PartialObject } from '../shared/partial-object.ts';
import { forbidden } from '../shared/problems.ts';
import { accessModesText } from './access-modes.ts';
import { claimSpecProblems } from './volume-claim-problems.ts';

type Claim = PartialObject<PersistentVolumeClaim>;
type Source = NonNullable<NonNullable<Claim['spec']>['dataSource']>;

/**
 * persistentVolumeClaimRules makes the spec of a claim immutable after creation; only a bound claim may request more
 * storage.
 */
export const persistentVolumeClaimRules: KindRules = {
  countsGeneration: false,
  returnsDeletedObject: true,
  applyDefaults(object) {
    const claim = as<PersistentVolumeClaim>(object);
    claim.spec ??= {};
    claim.spec.resources ??= {};
    claim.spec.volumeMode ??= 'Filesystem';
    claim.status ??= {};
    claim.status.phase ??= 'Pending';
  },
  prepareForCreate(object) {
    const { spec } = as<PersistentVolumeClaim>(object);
    if (!spec) return;
    // Both fields hold the same source, for clients that know only one of them. Sources of other kinds are allowed only
    // in the newer field.
    const { dataSource } = spec;
    if (dataSource && !isKnownSource(dataSource)) spec.dataSource = undefined;
    const source = spec.dataSource ?? spec.dataSourceRef;
    if (!source) return;
    const same = { apiGroup: null, ...source };
    if (isKnownSource(source)) spec.dataSource = same as Source;
    spec.dataSourceRef = { ...same } as NonNullable<Claim['spec']>['dataSourceRef'];
  },
  validate(object, old) {
    const problems = claimSpecProblems('spec', as<PersistentVolumeClaim>(object).spec ?? {});
    return old
      ? [...problems, ...changeProblems(as<PersistentVolumeClaim>(object), as<PersistentVolumeClaim>(old))]
      : problems;
  },
  warningsOf: ({ metadata }) =>
    metadata.annotations?.[CLASS_ANNOTATION] === undefined
      ? []
      : [`metadata.annotations[${CLASS_ANNOTATION}]: deprecated since v1.8; use "storageClassName" attribute instead`],
  subresources: { status: (whole) => ({ strategy: statusStrategy({ ...whole, validate: () => [] }) }) },
  columns: [
    column('Status', 'Phase of the claim.', (object) =>
      object.metadata?.deletionTimestamp ? 'Terminating' : (as<PersistentVolumeClaim>(object).status?.phase ?? ''),
    ),
    column(
      'Volume',
      'Volume that is bound to the claim.',
      (object) => as<PersistentVolumeClaim>(object).spec?.volumeName ?? '',
    ),
    column('Capacity', 'Capacity of the volume.', (object) =>
      isBound(object) ? (as<PersistentVolumeClaim>(object).status?.capacity?.storage ?? '') : '',
    ),
    column('Access Modes', 'Access modes of the volume.', (object) =>
      isBound(object) ? accessModesText(as<PersistentVolumeClaim>(object).status?.accessModes) : '',
    ),
    column('StorageClass', 'Requested storage class.', (object) => storageClassOf(object) ?? ''),
    column(
      'VolumeAttributesClass',
      'Requested volume attributes class.',
      (object) => as<PersistentVolumeClaim>(object).spec?.volumeAttributesClassName ?? '<unset>',
    ),
    AGE,
    wide(
      'VolumeMode',
      'Whether the volume is a file system or a block device.',
      (object) => as<PersistentVolumeClaim>(object).spec?.volumeMode ?? '<unset>',
    ),
  ],
};

function isBound(object: Parameters<typeof as>[0]): boolean {
  return !!as<PersistentVolumeClaim>(object).spec?.volumeName;
}

function isKnownSource({ apiGroup, kind, name }: PartialObject<Source>): boolean {
  if (!name) return false;
  return (
    (kind === 'PersistentVolumeClaim' && !apiGroup) ||
    (kind === 'VolumeSnapshot' && apiGroup === 'snapshot.storage.k8s.io')
  );
}

function changeProblems(claim: Claim, old: Claim): FieldProblem[] {
  const { spec = {} } = claim;
  const { spec: before = {}, status } = old;
  const setsClass = isClassSetLater(claim, old);
  const fixed = (each: NonNullable<Claim['spec']>): string => {
    const { volumeName, resources, volumeAttributesClassName, storageClassName, ...rest } = each;
    const requests = { ...resources?.requests, storage: undefined };
    const className = setsClass ? undefined : storageClassName;
    return canonicalJson({ ...rest, storageClassName: className, resources: { ...resources, requests } });
  };
  const wanted = spec.resources?.requests?.storage ?? '0';
  const had = before.resources?.requests?.storage ?? '0';
  const grows = compareQuantities(parseQuantity(wanted), parseQuantity(had));
  const isRenamed = before.volumeName !== undefined && spec.volumeName !== before.volumeName;
  const problems: FieldProblem[] = [];
  if (fixed(spec) !== fixed(before) || isRenamed || (grows !== 0 && status?.phase !== 'Bound')) {
    const detail =
      'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';
    problems.push(forbidden('spec', detail));
  }
  const reached = status?.capacity?.storage ?? '0';
  if (grows < 0 && compareQuantities(parseQuantity(wanted), parseQuantity(reached)) <= 0) {
    problems.push(forbidden('spec.resources.requests.storage', 'field can not be less than status.capacity'));
  }
  return problems;
}

/** A class may be set once, for claims that were created while there was no default class. */
function isClassSetLater({ spec }: Claim, { metadata, spec: before }: Claim): boolean {
  if (spec?.storageClassName === undefined || before?.storageClassName !== undefined) return false;
  const annotated = metadata?.annotations?.[CLASS_ANNOTATION];
  return annotated === undefined || annotated === spec.storageClassName;
}
