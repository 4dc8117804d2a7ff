import type { Pod, PodSpec } from '@bowline/kubernetes';
import type { FieldProblem } from '@bowline/machinery';
import type { Draft, Strategy } from '../../../api-resource.ts';
import { type KindRules, statusStrategy } from '../../../built-in-strategy.ts';
import type { PartialObject } from '../../shared/partial-object.ts';
import { forbidden, IMMUTABLE, invalid } from '../../shared/problems.ts';
import { statusDefaults } from '../../shared/status-defaults.ts';
import { dropZero } from '../../shared/zero-values.ts';
import { POD_COLUMNS, podRowConditions } from './pod-columns.ts';
import { setPodCondition } from './pod-condition.ts';
import { podDefaults } from './pod-defaults.ts';
import { podSpecProblems } from './pod-spec-problems.ts';
import { podUpdateProblems } from './pod-update-problems.ts';
import { qosClassOf } from './qos-class.ts';

const GATED = {
  type: 'PodScheduled',
  status: 'False',
  reason: 'SchedulingGated',
  message: 'Scheduling is blocked due to non-empty scheduling gates',
};

/** podRules holds the rules of pods. */
export const podRules: KindRules = {
  applyDefaults(object) {
    podDefaults(asPod(object));
    podStatusDefaults(asPod(object));
  },
  prepareForCreate(object, { now }) {
    const { spec = {} } = asPod(object);
    object.status = { phase: 'Pending', qosClass: qosClassOf(spec) };
    if ((spec.schedulingGates ?? []).length > 0) setPodCondition(object, now, GATED);
  },
  validate(object, old) {
    const { spec = {} } = asPod(object);
    const problems = podSpecProblems('spec', spec);
    return old ? [...problems, ...podUpdateProblems(spec, asPod(old).spec ?? {})] : [...problems, ...newProblems(spec)];
  },
  gracePeriodSeconds(object, requested) {
    const { spec, status } = asPod(object);
    // No container is running that would have to terminate.
    if (!spec?.nodeName || ['Failed', 'Succeeded'].includes(status?.phase ?? '')) return 0;
    const period = requested ?? spec.terminationGracePeriodSeconds ?? 30;
    return period < 0 ? 1 : period;
  },
  columns: POD_COLUMNS,
  rowConditions: podRowConditions,
  returnsDeletedObject: true,
  subresources: {
    status: (whole) => ({ strategy: podStatusStrategy(whole) }),
  },
};

/** podStatusStrategy handles status updates of a pod, which change neither its owner references nor its spec. */
function podStatusStrategy(whole: Strategy): Strategy {
  return {
    ...statusStrategy(whole, (object, old) => {
      object.metadata.ownerReferences = old.metadata.ownerReferences;
      const { status } = asPod(object);
      if (status) status.qosClass ||= asPod(old).status?.qosClass;
    }),
    // The spec was validated when it was written.
    validate(object, old) {
      const { qosClass = '' } = asPod(object).status ?? {};
      const isSame = qosClass === (asPod(old ?? object).status?.qosClass ?? '');
      return isSame ? [] : [invalid('status.qosClass', qosClass, IMMUTABLE)];
    },
  };
}

function asPod(object: Draft): PartialObject<Pod> {
  // It was decoded with the schema of a pod.
  return object as PartialObject<Pod>;
}

/** Rejects fields that only an existing pod may have. */
function newProblems({
  ephemeralContainers = [],
  nodeName,
  schedulingGates = [],
}: PartialObject<PodSpec>): FieldProblem[] {
  const problems: FieldProblem[] = [];
  if (ephemeralContainers.length > 0) problems.push(forbidden('spec.ephemeralContainers', 'cannot be set on create'));
  if (nodeName && schedulingGates.length > 0) {
    problems.push(forbidden('spec.nodeName', 'cannot be set until all schedulingGates have been cleared'));
  }
  return problems;
}

function podStatusDefaults({ status }: PartialObject<Pod>): void {
  if (!status) return;
  statusDefaults(status.conditions, 'lastProbeTime', 'lastTransitionTime');
  const { containerStatuses = [], initContainerStatuses = [], ephemeralContainerStatuses = [] } = status;
  for (const container of [...containerStatuses, ...initContainerStatuses, ...ephemeralContainerStatuses]) {
    container.state ??= {};
    container.lastState ??= {};
    for (const { running, terminated } of [container.state, container.lastState]) {
      if (running) statusDefaults([running], 'startedAt');
      if (terminated) {
        statusDefaults([terminated], 'startedAt', 'finishedAt');
        dropZero(terminated, 'signal');
      }
    }
  }
}
