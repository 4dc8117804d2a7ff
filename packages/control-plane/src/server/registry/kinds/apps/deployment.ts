import type { Deployment, DeploymentSpec } from '@bowline/kubernetes';
import { type FieldProblem, isSameJson } from '@bowline/machinery';
import type { Draft } from '../../api-resource.ts';
import { type KindRules, specChanged } from '../../built-in-strategy.ts';
import { podTemplateDefaults } from '../core/pod/pod-defaults.ts';
import { AGE, as, CONTAINERS, column, IMAGES, selectorText, wide } from '../shared/column.ts';
import { countProblems, type IntOrPercent, isZero, shareProblems } from '../shared/int-or-percent.ts';
import { type PartialObject, partOf } from '../shared/partial-object.ts';
import { forbidden, invalid, invalidStruct, notNegative, notSupportedStruct, required } from '../shared/problems.ts';
import { selectorStruct } from '../shared/scheduling-problems.ts';
import { statusDefaults } from '../shared/status-defaults.ts';
import { dropFalse, dropZero } from '../shared/zero-values.ts';
import { scaleProjection } from './scale.ts';
import {
  isValidSelector,
  runningTemplateProblems,
  selectorImmutable,
  workloadSelectorProblems,
} from './workload-problems.ts';

type Problems = FieldProblem[];

/** deploymentRules holds the rules of Deployments. */
export const deploymentRules: KindRules = {
  // Annotations count because ReplicaSets inherit them.
  countsGeneration: (object, old) =>
    specChanged(object, old) || !isSameJson(object.metadata.annotations ?? {}, old.metadata.annotations ?? {}),
  applyDefaults(object) {
    const { spec = {}, status } = asDeployment(object);
    spec.replicas ??= 1;
    spec.revisionHistoryLimit ??= 10;
    spec.progressDeadlineSeconds ??= 600;
    const strategy = partOf(spec, 'strategy');
    strategy.type ||= 'RollingUpdate';
    if (strategy.type === 'RollingUpdate') {
      const rolling = partOf(strategy, 'rollingUpdate');
      rolling.maxUnavailable ??= '25%';
      rolling.maxSurge ??= '25%';
    }
    dropFalse(spec, 'paused');
    dropZero(spec, 'minReadySeconds');
    podTemplateDefaults(partOf(spec, 'template'));
    statusDefaults(status?.conditions, 'lastUpdateTime', 'lastTransitionTime');
    if (status) {
      dropZero(
        status,
        'observedGeneration',
        'replicas',
        'updatedReplicas',
        'readyReplicas',
        'availableReplicas',
        'unavailableReplicas',
      );
    }
  },
  validate(object, old) {
    const { spec = {} } = asDeployment(object);
    const problems = specProblems(spec);
    return old ? [...problems, ...selectorImmutable(spec, asDeployment(old).spec ?? {})] : problems;
  },
  columns: [
    column('Ready', 'Number of ready pods out of the desired number.', (object) => {
      const { spec, status } = as<Deployment>(object);
      return `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`;
    }),
    column(
      'Up-to-date',
      'Number of pods of the current template.',
      (object) => as<Deployment>(object).status?.updatedReplicas ?? 0,
    ),
    column('Available', 'Number of available pods.', (object) => as<Deployment>(object).status?.availableReplicas ?? 0),
    AGE,
    CONTAINERS,
    IMAGES,
    wide('Selector', 'Labels that select the pods.', (object) => selectorText(as<Deployment>(object).spec?.selector)),
  ],
  subresources: { scale: () => ({ projection: scaleProjection() }) },
};

function asDeployment(object: Draft): PartialObject<Deployment> {
  // It was decoded with the schema of a Deployment.
  return object as PartialObject<Deployment>;
}

function specProblems(spec: PartialObject<DeploymentSpec>): Problems {
  const { selector, minReadySeconds = 0, progressDeadlineSeconds } = spec;
  const problems = notNegative('spec.replicas', spec.replicas);
  if (!selector) problems.push(required('spec.selector'));
  problems.push(...workloadSelectorProblems(spec, 'deployment'));
  if (!isValidSelector(selector))
    problems.push(invalidStruct('spec.selector', selectorStruct(selector), 'invalid label selector'));
  else problems.push(...runningTemplateProblems(spec, 'ReplicaSet'));
  problems.push(
    ...strategyProblems(spec.strategy ?? {}),
    ...notNegative('spec.minReadySeconds', minReadySeconds),
    ...notNegative('spec.revisionHistoryLimit', spec.revisionHistoryLimit),
  );
  if (progressDeadlineSeconds !== undefined) {
    problems.push(...notNegative('spec.progressDeadlineSeconds', progressDeadlineSeconds));
    if (progressDeadlineSeconds <= minReadySeconds) {
      problems.push(
        invalid('spec.progressDeadlineSeconds', progressDeadlineSeconds, 'must be greater than minReadySeconds'),
      );
    }
  }
  return problems;
}

function strategyProblems({
  type = '',
  rollingUpdate,
}: PartialObject<NonNullable<DeploymentSpec['strategy']>>): Problems {
  const at = 'spec.strategy.rollingUpdate';
  switch (type) {
    case 'Recreate':
      return rollingUpdate ? [forbidden(at, "may not be specified when strategy `type` is 'Recreate'")] : [];
    case 'RollingUpdate': {
      const { maxUnavailable = 0, maxSurge = 0 } = (rollingUpdate ?? {}) as {
        maxUnavailable?: IntOrPercent;
        maxSurge?: IntOrPercent;
      };
      const problems = [
        ...countProblems(`${at}.maxUnavailable`, maxUnavailable),
        ...countProblems(`${at}.maxSurge`, maxSurge),
      ];
      if (isZero(maxUnavailable) && isZero(maxSurge)) {
        problems.push(invalid(`${at}.maxUnavailable`, maxUnavailable, 'may not be 0 when `maxSurge` is 0'));
      }
      return [...problems, ...shareProblems(`${at}.maxUnavailable`, maxUnavailable)];
    }
    default:
      return [notSupportedStruct('spec.strategy', { Type: type, RollingUpdate: null }, ['Recreate', 'RollingUpdate'])];
  }
}
