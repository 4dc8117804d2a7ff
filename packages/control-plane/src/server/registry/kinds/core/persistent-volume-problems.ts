import type { PersistentVolume } from '@bowline/kubernetes';
import { canonicalJson, dnsSubdomainProblems, type FieldProblem, parseQuantity } from '@bowline/machinery';
import type { PartialObject } from '../shared/partial-object.ts';
import { forbidden, IMMUTABLE, invalid, invalids, notSupported, required } from '../shared/problems.ts';
import { ACCESS_MODES } from './access-modes.ts';
import { hostPathProblems } from './pod/volume-problems.ts';

type Spec = NonNullable<PartialObject<PersistentVolume>['spec']>;

/**
 * SETTINGS lists the fields of a volume's spec that are not a volume source. Exactly one of the other fields must be
 * set.
 */
const SETTINGS: ReadonlySet<string> = new Set([
  'accessModes',
  'capacity',
  'claimRef',
  'mountOptions',
  'nodeAffinity',
  'persistentVolumeReclaimPolicy',
  'storageClassName',
  'volumeAttributesClassName',
  'volumeMode',
]);

function sourcesOf(spec: Spec): [string, unknown][] {
  return Object.entries(spec).filter(([name, value]) => !SETTINGS.has(name) && value !== undefined);
}

/** volumeProblems validates a PersistentVolume. */
export function volumeProblems({ spec = {} }: PartialObject<PersistentVolume>): FieldProblem[] {
  const { accessModes = [], persistentVolumeReclaimPolicy: policy = '', storageClassName, volumeMode } = spec;
  const problems: FieldProblem[] = [];
  if (accessModes.length === 0) problems.push(required('spec.accessModes'));
  for (const mode of accessModes)
    if (!ACCESS_MODES.includes(mode)) problems.push(notSupported('spec.accessModes', mode, ACCESS_MODES));
  if (accessModes.includes('ReadWriteOncePod') && accessModes.length > 1)
    problems.push(forbidden('spec.accessModes', 'may not use ReadWriteOncePod with other access modes'));
  problems.push(...capacityProblems(spec.capacity));
  const policies = ['Delete', 'Recycle', 'Retain'];
  if (!policies.includes(policy)) problems.push(notSupported('spec.persistentVolumeReclaimPolicy', policy, policies));
  problems.push(...sourceProblems(spec));
  if (spec.local && !spec.nodeAffinity)
    problems.push(required('spec.nodeAffinity', 'Local volume requires node affinity'));
  if (storageClassName)
    problems.push(...invalids('spec.storageClassName', storageClassName, dnsSubdomainProblems(storageClassName)));
  if (volumeMode !== undefined && !['Block', 'Filesystem'].includes(volumeMode))
    problems.push(notSupported('spec.volumeMode', volumeMode, ['Block', 'Filesystem']));
  return problems;
}

/** volumeChangeProblems validates an update of a PersistentVolume. */
export function volumeChangeProblems(
  { spec = {} }: PartialObject<PersistentVolume>,
  { spec: before = {} }: PartialObject<PersistentVolume>,
): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const where = (each: Spec): string => canonicalJson(Object.fromEntries(sourcesOf(each)));
  if (where(spec) !== where(before)) {
    const field = 'spec.persistentvolumesource';
    problems.push(forbidden(field, `${field} is immutable after creation`));
  }
  if (spec.volumeMode !== before.volumeMode) problems.push(invalid('volumeMode', spec.volumeMode, IMMUTABLE));
  return problems;
}

function capacityProblems(capacity: Spec['capacity']): FieldProblem[] {
  const field = 'spec.capacity';
  const problems: FieldProblem[] = [];
  const names = Object.keys(capacity ?? {});
  if (names.length === 0) problems.push(required(field));
  const storage = capacity?.storage;
  if (storage === undefined || names.length > 1) {
    const message = `Unsupported value: ${canonicalJson(capacity ?? null)}: supported values: "storage"`;
    problems.push({ field, reason: 'FieldValueNotSupported', message });
  }
  for (const [name, amount] of Object.entries(capacity ?? {})) {
    if (parseQuantity(amount ?? '0').nanos > 0n) continue;
    const here = `${field}[${name}]`;
    const number = Number(parseQuantity(amount ?? '0').nanos / 1_000_000_000n);
    problems.push(invalid(here, number, 'must be a valid resource quantity'));
    problems.push(invalid(here, amount, 'must be greater than zero'));
  }
  return problems;
}

function sourceProblems(spec: Spec): FieldProblem[] {
  const [first, ...others] = sourcesOf(spec);
  if (!first) return [required('spec', 'must specify a volume type')];
  const problems = others.map(([name]) => forbidden(`spec.${name}`, 'may not specify more than 1 volume type'));
  const { hostPath, nfs, csi, local } = spec;
  if (hostPath) {
    problems.push(...hostPathProblems('spec.hostPath', { hostPath }));
    if (!hostPath.path) return problems;
  }
  if (nfs && first[0] === 'nfs') {
    if (!nfs.server) problems.push(required('spec.nfs.server'));
    if (!nfs.path) problems.push(required('spec.nfs.path'));
    else if (!nfs.path.startsWith('/')) problems.push(invalid('spec.nfs.path', nfs.path, 'must be an absolute path'));
  }
  if (csi && first[0] === 'csi') {
    if (!csi.driver) problems.push(required('spec.csi.driver'));
    if (!csi.volumeHandle) problems.push(required('spec.csi.volumeHandle'));
  }
  if (local && first[0] === 'local' && !local.path) problems.push(required('spec.local.path'));
  return problems;
}
