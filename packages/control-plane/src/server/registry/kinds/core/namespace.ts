import type { Namespace } from '@bowline/kubernetes';
import { type FieldProblem, labelKeyProblems } from '@bowline/machinery';
import type { Draft, Strategy } from '../../api-resource.ts';
import type { KindRules } from '../../built-in-strategy.ts';
import { AGE, as, column } from '../shared/column.ts';
import type { PartialObject } from '../shared/partial-object.ts';
import { invalids } from '../shared/problems.ts';

const NAME_LABEL = 'kubernetes.io/metadata.name';
const OWN_FINALIZER = 'kubernetes';

/**
 * namespaceRules keeps a deleted namespace until the finalizers of its spec are removed, because its contents are
 * deleted with it.
 */
export const namespaceRules: KindRules = {
  countsGeneration: false,
  applyDefaults(object) {
    const { metadata } = object;
    if (metadata.name) metadata.labels = { ...metadata.labels, [NAME_LABEL]: metadata.name };
    const namespace = as<Namespace>(object);
    namespace.status ??= {};
    namespace.status.phase ??= 'Active';
  },
  prepareForCreate(object) {
    const spec = specOf(object);
    spec.finalizers ??= [];
    if (!spec.finalizers.includes(OWN_FINALIZER)) spec.finalizers.push(OWN_FINALIZER);
  },
  prepareForUpdate(object, old) {
    specOf(object).finalizers = as<Namespace>(old).spec?.finalizers;
  },
  validate: (object, old) => (old ? [] : finalizerProblems(object, () => 'spec.finalizers')),
  prepareForDelete(object) {
    const { metadata } = object;
    // The time until it is removed depends on its contents.
    metadata.deletionGracePeriodSeconds = undefined;
    object.status = { ...(object.status as object), phase: 'Terminating' };
  },
  isKept: (object) => (as<Namespace>(object).spec?.finalizers ?? []).length > 0,
  subresources: { finalize: (whole) => ({ strategy: finalizeStrategy(whole) }) },
  columns: [column('Status', 'Phase of the namespace.', (object) => as<Namespace>(object).status?.phase ?? ''), AGE],
};

/** finalizeStrategy allows changes of the finalizers of the spec, and of mutable metadata. */
function finalizeStrategy(whole: Strategy): Strategy {
  return {
    ...whole,
    prepareForUpdate(object, old) {
      object.status = old.status;
    },
    validate: (object) => finalizerProblems(object, (index) => `spec.finalizers[${index}]`),
  };
}

function specOf(object: Draft): NonNullable<PartialObject<Namespace>['spec']> {
  const namespace = as<Namespace>(object);
  namespace.spec ??= {};
  return namespace.spec;
}

function finalizerProblems(object: Draft, fieldOf: (index: number) => string): FieldProblem[] {
  return (as<Namespace>(object).spec?.finalizers ?? []).flatMap((finalizer, index) => {
    const details = labelKeyProblems(finalizer);
    if (!finalizer.includes('/') && finalizer !== OWN_FINALIZER)
      details.push('name is neither a standard finalizer name nor is it fully qualified');
    return invalids(fieldOf(index), finalizer, details);
  });
}
