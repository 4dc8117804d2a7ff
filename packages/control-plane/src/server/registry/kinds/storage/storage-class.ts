import type { StorageClass } from '@bowline/kubernetes';
import { canonicalJson, type FieldProblem, labelKeyProblems } from '@bowline/machinery';
import type { Draft } from '../../api-resource.ts';
import type { KindRules } from '../../built-in-strategy.ts';
import { AGE, as, column } from '../shared/column.ts';
import { forbidden, IMMUTABLE, invalid, invalids, notSupported, required } from '../shared/problems.ts';

const MODES = ['Immediate', 'WaitForFirstConsumer'];
/** The volumes of a class were provisioned with these fields; other values require another class. */
const FROZEN = ['parameters', 'provisioner', 'reclaimPolicy'];

/** storageClassRules validates how volumes are provisioned. */
export const storageClassRules: KindRules = {
  returnsDeletedObject: true,
  applyDefaults(object) {
    const storage = as<StorageClass>(object);
    storage.reclaimPolicy ??= 'Delete';
    storage.volumeBindingMode ??= 'Immediate';
  },
  validate(object, old) {
    const { provisioner = '', parameters = {}, reclaimPolicy = '', volumeBindingMode = '' } = as<StorageClass>(object);
    const problems = old ? changeProblems(object, old) : [];
    if (old) return problems;
    if (provisioner === '') problems.push(required('provisioner'));
    else
      problems.push(...invalids('provisioner', provisioner.toLowerCase(), labelKeyProblems(provisioner.toLowerCase())));
    for (const key of Object.keys(parameters))
      if (key === '') problems.push(invalid('parameters', key, 'field can not be empty.'));
    if (reclaimPolicy !== 'Delete' && reclaimPolicy !== 'Retain')
      problems.push(notSupported('reclaimPolicy', reclaimPolicy, ['Delete', 'Retain']));
    if (!MODES.includes(volumeBindingMode)) problems.push(notSupported('volumeBindingMode', volumeBindingMode, MODES));
    return problems;
  },
  columns: [
    column('Provisioner', 'Provisioner of the volumes.', (object) => as<StorageClass>(object).provisioner ?? ''),
    column(
      'ReclaimPolicy',
      'Reclaim policy of the volumes.',
      (object) => as<StorageClass>(object).reclaimPolicy ?? 'Delete',
    ),
    column(
      'VolumeBindingMode',
      'When volumes are provisioned and bound.',
      (object) => as<StorageClass>(object).volumeBindingMode ?? 'Immediate',
    ),
    column(
      'AllowVolumeExpansion',
      'Whether volumes can be expanded.',
      (object) => as<StorageClass>(object).allowVolumeExpansion ?? false,
    ),
    AGE,
  ],
};

function changeProblems(object: Draft, old: Draft): FieldProblem[] {
  const isOther = (field: string): boolean =>
    canonicalJson(object[field] ?? null) !== canonicalJson(old[field] ?? null);
  const problems = FROZEN.filter(isOther).map((field) => forbidden(field, `updates to ${field} are forbidden.`));
  if (isOther('volumeBindingMode')) problems.push(invalid('volumeBindingMode', object.volumeBindingMode, IMMUTABLE));
  return problems;
}
