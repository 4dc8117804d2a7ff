import type { PodSpec, Toleration } from '@bowline/kubernetes';
import { type FieldProblem, isSameJson } from '@bowline/machinery';
import type { PartialObject } from '../../shared/partial-object.ts';
import { forbidden, invalid } from '../../shared/problems.ts';

type Problems = FieldProblem[];

const MAY_CHANGE =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';

/** podUpdateProblems validates an update of a pod, most of whose fields are immutable. */
export function podUpdateProblems(spec: PartialObject<PodSpec>, old: PartialObject<PodSpec>): Problems {
  if (isSameJson(spec, old)) return [];
  const resized = (['containers', 'initContainers'] as const).filter(
    (name) => (spec[name] ?? []).length !== (old[name] ?? []).length,
  );
  if (resized.length > 0) {
    return resized.map((name) => forbidden(`spec.${name}`, 'pod updates may not add or remove containers'));
  }
  // If the deadline is invalid, nothing else is validated.
  const deadline = deadlineProblems(spec.activeDeadlineSeconds, old.activeDeadlineSeconds);
  if (deadline.length > 0) return deadline;
  return [
    ...gateProblems(spec, old),
    ...tolerationProblems(spec.tolerations ?? [], old.tolerations ?? []),
    ...(isSameJson(mungedOf(spec, old), old) ? [] : [forbidden('spec', MAY_CHANGE)]),
  ];
}

/** mungedOf returns a pod spec with all mutable fields reset to their old values. */
function mungedOf(spec: PartialObject<PodSpec>, old: PartialObject<PodSpec>): PartialObject<PodSpec> {
  const withImages = (name: 'containers' | 'initContainers') =>
    spec[name]?.map((container, index) => ({ ...container, image: old[name]?.[index]?.image }));
  const mayEnd = (old.terminationGracePeriodSeconds ?? 0) < 0 && spec.terminationGracePeriodSeconds === 1;
  const isGated = (old.schedulingGates ?? []).length > 0;
  return {
    ...spec,
    containers: withImages('containers'),
    initContainers: withImages('initContainers'),
    activeDeadlineSeconds: old.activeDeadlineSeconds,
    tolerations: old.tolerations,
    schedulingGates: old.schedulingGates,
    terminationGracePeriodSeconds: mayEnd ? old.terminationGracePeriodSeconds : spec.terminationGracePeriodSeconds,
    // Scheduling constraints may change until the scheduling gates are removed.
    nodeSelector: isGated ? old.nodeSelector : spec.nodeSelector,
    affinity: isGated ? old.affinity : spec.affinity,
  };
}

function deadlineProblems(deadline: number | undefined, old: number | undefined): Problems {
  const field = 'spec.activeDeadlineSeconds';
  if (old === undefined || deadline === old) return [];
  if (deadline === undefined) return [invalid(field, deadline, 'must not update from a positive integer to nil value')];
  return deadline > old ? [invalid(field, deadline, 'must be less than or equal to previous value')] : [];
}

function gateProblems({ schedulingGates = [] }: PartialObject<PodSpec>, old: PartialObject<PodSpec>): Problems {
  const before = new Set((old.schedulingGates ?? []).map(({ name }) => name));
  return schedulingGates.flatMap(({ name }, index) =>
    before.has(name)
      ? []
      : [
          forbidden(
            `spec.schedulingGates[${index}].name`,
            `only deletion is allowed, but found new scheduling gate '${name}'`,
          ),
        ],
  );
}

function tolerationProblems(
  tolerations: readonly PartialObject<Toleration>[],
  old: readonly PartialObject<Toleration>[],
): Problems {
  const timeless = (each: PartialObject<Toleration>) => ({ ...each, tolerationSeconds: undefined });
  for (const before of old) {
    const kept = tolerations.some(
      (each) =>
        isSameJson(each, before) || (before.effect === 'NoExecute' && isSameJson(timeless(each), timeless(before))),
    );
    if (!kept) {
      return [forbidden('spec.tolerations', 'existing toleration can not be modified except its tolerationSeconds')];
    }
  }
  return [];
}
