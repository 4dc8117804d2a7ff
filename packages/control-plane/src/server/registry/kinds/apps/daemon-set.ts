import type { DaemonSet, DaemonSetSpec } from '@bowline/kubernetes';
import type { FieldProblem } from '@bowline/machinery';
import type { Draft } from '../../api-resource.ts';
import { type KindRules, specChanged } from '../../built-in-strategy.ts';
import { podTemplateDefaults } from '../core/pod/pod-defaults.ts';
import { AGE, as, CONTAINERS, column, count, IMAGES, selectorText, wide } from '../shared/column.ts';
import { countProblems, type IntOrPercent, isZero, shareProblems } from '../shared/int-or-percent.ts';
import { type PartialObject, partOf } from '../shared/partial-object.ts';
import { invalid, notNegative, notSupportedStruct, required } from '../shared/problems.ts';
import { statusDefaults, zeroes } from '../shared/status-defaults.ts';
import { dropZero } from '../shared/zero-values.ts';
import { runningTemplateProblems, selectorImmutable, workloadSelectorProblems } from './workload-problems.ts';

type Problems = FieldProblem[];

/** Counts changes of the template for clients older than ControllerRevisions. */
const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation';

/** daemonSetRules holds the rules of DaemonSets. */
export const daemonSetRules: KindRules = {
  applyDefaults(object) {
    const { spec = {}, status } = asDaemonSet(object);
    spec.revisionHistoryLimit ??= 10;
    dropZero(spec, 'minReadySeconds');
    const strategy = partOf(spec, 'updateStrategy');
    strategy.type ||= 'RollingUpdate';
    if (strategy.type === 'RollingUpdate') {
      const rolling = partOf(strategy, 'rollingUpdate');
      rolling.maxUnavailable ??= 1;
      rolling.maxSurge ??= 0;
    }
    podTemplateDefaults(partOf(spec, 'template'));
    zeroes(status, 'currentNumberScheduled', 'desiredNumberScheduled', 'numberMisscheduled', 'numberReady');
    if (status)
      dropZero(status, 'observedGeneration', 'updatedNumberScheduled', 'numberAvailable', 'numberUnavailable');
    statusDefaults(status?.conditions, 'lastTransitionTime');
  },
  prepareForCreate(object) {
    object.metadata.annotations = { ...object.metadata.annotations, [TEMPLATE_GENERATION]: '1' };
  },
  prepareForUpdate(object, old) {
    const before = Number(old.metadata.annotations?.[TEMPLATE_GENERATION] ?? '1');
    const changed = specChanged(
      { metadata: {}, spec: asDaemonSet(object).spec?.template },
      { metadata: {}, spec: asDaemonSet(old).spec?.template },
    );
    const generation = String(changed ? before + 1 : before);
    object.metadata.annotations = { ...object.metadata.annotations, [TEMPLATE_GENERATION]: generation };
  },
  validate(object, old) {
    const { spec = {} } = asDaemonSet(object);
    return [
      ...(old ? selectorImmutable(spec, asDaemonSet(old).spec ?? {}) : []),
      ...workloadSelectorProblems(spec, 'daemonset'),
      ...runningTemplateProblems(spec, 'DaemonSet'),
      ...notNegative('spec.minReadySeconds', spec.minReadySeconds),
      ...strategyProblems(spec.updateStrategy ?? {}),
      ...notNegative('spec.revisionHistoryLimit', spec.revisionHistoryLimit),
    ];
  },
  columns: [
    count(
      'Desired',
      'Number of nodes that should run the pod.',
      (object) => statusOf(object).desiredNumberScheduled ?? 0,
    ),
    count('Current', 'Number of nodes that run the pod.', (object) => statusOf(object).currentNumberScheduled ?? 0),
    count('Ready', 'Number of nodes whose pod is ready.', (object) => statusOf(object).numberReady ?? 0),
    count(
      'Up-to-date',
      'Number of nodes with a pod of the current template.',
      (object) => statusOf(object).updatedNumberScheduled ?? 0,
    ),
    count('Available', 'Number of nodes whose pod is available.', (object) => statusOf(object).numberAvailable ?? 0),
    column('Node Selector', 'Labels that select the nodes.', (object) => {
      const labels = Object.entries(as<DaemonSet>(object).spec?.template?.spec?.nodeSelector ?? {});
      return labels.length === 0
        ? '<none>'
        : labels
            .map(([key, value]) => `${key}=${value}`)
            .sort()
            .join(',');
    }),
    AGE,
    CONTAINERS,
    IMAGES,
    wide('Selector', 'Labels that select the pods.', (object) => selectorText(as<DaemonSet>(object).spec?.selector)),
  ],
};

function asDaemonSet(object: Draft): PartialObject<DaemonSet> {
  // It was decoded with the schema of a DaemonSet.
  return object as PartialObject<DaemonSet>;
}

function statusOf(object: Parameters<typeof as>[0]): PartialObject<NonNullable<DaemonSet['status']>> {
  return as<DaemonSet>(object).status ?? {};
}

function strategyProblems({
  type = '',
  rollingUpdate,
}: PartialObject<NonNullable<DaemonSetSpec['updateStrategy']>>): Problems {
  if (type === 'OnDelete') return [];
  if (type !== 'RollingUpdate') {
    return [
      notSupportedStruct('spec.updateStrategy', { Type: type, RollingUpdate: null }, ['RollingUpdate', 'OnDelete']),
    ];
  }
  const at = 'spec.updateStrategy.rollingUpdate';
  const { maxUnavailable = 0, maxSurge = 0 } = (rollingUpdate ?? {}) as {
    maxUnavailable?: IntOrPercent;
    maxSurge?: IntOrPercent;
  };
  const problems = [
    ...countProblems(`${at}.maxUnavailable`, maxUnavailable),
    ...countProblems(`${at}.maxSurge`, maxSurge),
  ];
  if (!isZero(maxUnavailable) && !isZero(maxSurge)) {
    problems.push(invalid(`${at}.maxSurge`, maxSurge, 'may not be set when maxUnavailable is non-zero'));
  }
  if (isZero(maxUnavailable) && isZero(maxSurge)) {
    problems.push(required(`${at}.maxUnavailable`, 'cannot be 0 when maxSurge is 0'));
  }
  return [
    ...problems,
    ...shareProblems(`${at}.maxUnavailable`, maxUnavailable),
    ...shareProblems(`${at}.maxSurge`, maxSurge),
  ];
}
