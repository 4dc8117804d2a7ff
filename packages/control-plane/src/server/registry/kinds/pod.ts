import type { Pod, PodSpec } from '@bowline/kubernetes';
import type { FieldProblem } from '@bowline/machinery';
import type { Draft } from '../api-resource.ts';
import { type KindRules, statusStrategy } from '../built-in-strategy.ts';
import type { Loose } from './loose.ts';
import { POD_COLUMNS } from './pod-columns.ts';
import { podDefaults } from './pod-defaults.ts';
import { podSpecProblems } from './pod-spec-problems.ts';
import { podUpdateProblems } from './pod-update-problems.ts';
import { forbidden } from './problems.ts';
import { qosClassOf } from './qos-class.ts';
import { statusDefaults } from './status-defaults.ts';

/** podRules are what is special about pods. */
export const podRules: KindRules = {
  applyDefaults(object) {
    podDefaults(asPod(object));
    podStatusDefaults(asPod(object));
  },
  prepareForCreate(object) {
    object.status = { phase: 'Pending', qosClass: qosClassOf(asPod(object).spec ?? {}) };
  },
  validate(object, old) {
    const { spec = {} } = asPod(object);
    const problems = podSpecProblems('spec', spec);
    return old ? [...problems, ...podUpdateProblems(spec, asPod(old).spec ?? {})] : [...problems, ...newProblems(spec)];
  },
  gracePeriodSeconds(object, asked) {
    const { spec, status } = asPod(object);
    // Nothing runs that would have to end.
    if (!spec?.nodeName || ['Failed', 'Succeeded'].includes(status?.phase ?? '')) return 0;
    const period = asked ?? spec.terminationGracePeriodSeconds ?? 30;
    return period < 0 ? 1 : period;
  },
  columns: POD_COLUMNS,
  tellsDeleted: true,
  subresources: {
    status: (whole) => ({
      strategy: statusStrategy(whole, (object, old) => {
        object.metadata.ownerReferences = old.metadata.ownerReferences;
        const { status, spec = {} } = asPod(object);
        if (status) status.qosClass = qosClassOf(spec);
      }),
    }),
    binding: () => ({
      serve: async (context, decoders) => (await import('../../handlers/pods/bind-pod.ts')).bindPod(context, decoders),
    }),
    eviction: () => ({
      serve: async (context, decoders) =>
        (await import('../../handlers/pods/evict-pod.ts')).evictPod(context, decoders),
    }),
    log: () => ({
      serve: async (context) => (await import('../../handlers/pods/read-pod-log.ts')).readPodLog(context),
    }),
  },
};

function asPod(object: Draft): Loose<Pod> {
  // It was decoded by the schema of a pod.
  return object as Loose<Pod>;
}

/** What only pods that are there already may have. */
function newProblems({ ephemeralContainers = [], nodeName, schedulingGates = [] }: Loose<PodSpec>): FieldProblem[] {
  const problems: FieldProblem[] = [];
  if (ephemeralContainers.length > 0) problems.push(forbidden('spec.ephemeralContainers', 'cannot be set on create'));
  if (nodeName && schedulingGates.length > 0) {
    problems.push(forbidden('spec.nodeName', 'cannot be set until all schedulingGates have been cleared'));
  }
  return problems;
}

function podStatusDefaults({ status }: Loose<Pod>): void {
  if (!status) return;
  statusDefaults(status.conditions, 'lastProbeTime', 'lastTransitionTime');
  const { containerStatuses = [], initContainerStatuses = [], ephemeralContainerStatuses = [] } = status;
  for (const container of [...containerStatuses, ...initContainerStatuses, ...ephemeralContainerStatuses]) {
    container.state ??= {};
    container.lastState ??= {};
    for (const { running, terminated } of [container.state, container.lastState]) {
      if (running) setTimes(running, 'startedAt');
      if (terminated) setTimes(terminated, 'startedAt', 'finishedAt');
    }
  }
}

function setTimes(object: object, ...names: readonly string[]): void {
  statusDefaults([object], ...names);
}
