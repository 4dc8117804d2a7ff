import type { ReplicaSet } from '@bowline/kubernetes';
import type { Draft } from '../../api-resource.ts';
import type { KindRules } from '../../built-in-strategy.ts';
import { podTemplateDefaults } from '../core/pod/pod-defaults.ts';
import { AGE, as, CONTAINERS, count, IMAGES, selectorText, wide } from '../shared/column.ts';
import { type PartialObject, partOf } from '../shared/partial-object.ts';
import { invalidStruct, notNegative, required } from '../shared/problems.ts';
import { selectorStruct } from '../shared/scheduling-problems.ts';
import { statusDefaults, zeroes } from '../shared/status-defaults.ts';
import { dropZero } from '../shared/zero-values.ts';
import { scaleProjection } from './scale.ts';
import {
  isValidSelector,
  runningTemplateProblems,
  selectorImmutable,
  workloadSelectorProblems,
} from './workload-problems.ts';

/** replicaSetRules holds the rules of ReplicaSets. */
export const replicaSetRules: KindRules = {
  applyDefaults(object) {
    const { spec = {}, status } = asReplicaSet(object);
    spec.replicas ??= 1;
    dropZero(spec, 'minReadySeconds');
    podTemplateDefaults(partOf(spec, 'template'));
    zeroes(status, 'replicas');
    if (status) dropZero(status, 'fullyLabeledReplicas', 'readyReplicas', 'availableReplicas', 'observedGeneration');
    statusDefaults(status?.conditions, 'lastTransitionTime');
  },
  validate(object, old) {
    const { spec = {} } = asReplicaSet(object);
    const problems = [
      ...notNegative('spec.replicas', spec.replicas),
      ...notNegative('spec.minReadySeconds', spec.minReadySeconds),
    ];
    if (!spec.selector) problems.push(required('spec.selector'));
    problems.push(...workloadSelectorProblems(spec, 'deployment'));
    if (isValidSelector(spec.selector)) problems.push(...runningTemplateProblems(spec, 'ReplicaSet'));
    else problems.push(invalidStruct('spec.selector', selectorStruct(spec.selector), 'invalid label selector'));
    return old ? [...problems, ...selectorImmutable(spec, asReplicaSet(old).spec ?? {})] : problems;
  },
  columns: [
    count('Desired', 'Number of desired pods.', (object) => as<ReplicaSet>(object).spec?.replicas ?? 0),
    count('Current', 'Number of existing pods.', (object) => as<ReplicaSet>(object).status?.replicas ?? 0),
    count('Ready', 'Number of ready pods.', (object) => as<ReplicaSet>(object).status?.readyReplicas ?? 0),
    AGE,
    CONTAINERS,
    IMAGES,
    wide('Selector', 'Labels that select the pods.', (object) => selectorText(as<ReplicaSet>(object).spec?.selector)),
  ],
  subresources: { scale: () => ({ projection: scaleProjection() }) },
};

function asReplicaSet(object: Draft): PartialObject<ReplicaSet> {
  // It was decoded with the schema of a ReplicaSet.
  return object as PartialObject<ReplicaSet>;
}
