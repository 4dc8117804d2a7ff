import type { Container, ContainerStatus, KubernetesObject, Pod } from '@bowline/kubernetes';
import { parseTime } from '@bowline/machinery';
import { age } from '../../../age.ts';
import type { RowConditions, TableColumn } from '../../../api-resource.ts';
import { AGE, as, column, wide } from '../../shared/column.ts';
import type { PartialObject } from '../../shared/partial-object.ts';

type Status = PartialObject<ContainerStatus>;

/** POD_COLUMNS holds the columns of `kubectl get pods`. */
export const POD_COLUMNS: readonly TableColumn[] = [
  column('Ready', 'Number of ready containers out of all containers.', (object) => {
    const { ready, total } = summaryOf(as(object));
    return `${ready}/${total}`;
  }),
  column('Status', 'Phase of the pod, or the reason why it is not running.', (object) => summaryOf(as(object)).reason),
  column('Restarts', 'Number of container restarts and the time since the last one.', (object, now) => {
    const { restarts, lastRestart } = summaryOf(as(object));
    return restarts > 0 && lastRestart !== undefined ? `${restarts} (${age(lastRestart, now)} ago)` : String(restarts);
  }),
  AGE,
  wide('IP', 'IP address of the pod.', (object) => {
    const { podIP, podIPs } = as<Pod>(object).status ?? {};
    return podIPs?.[0]?.ip || podIP || '<none>';
  }),
  wide('Node', 'Node that the pod is assigned to.', (object) => as<Pod>(object).spec?.nodeName || '<none>'),
  wide(
    'Nominated Node',
    'Node on which other pods are preempted for this pod.',
    (object) => as<Pod>(object).status?.nominatedNodeName || '<none>',
  ),
  wide('Readiness Gates', 'Number of readiness gates that are met out of all readiness gates.', gates),
];

/** podRowConditions reports how completed pods ended. */
export const podRowConditions: RowConditions = (object) => {
  const { phase = '' } = as<Pod>(object).status ?? {};
  const completed = { type: 'Completed', status: 'True', reason: phase };
  if (phase === 'Succeeded') return [{ ...completed, message: 'The pod has completed successfully.' }];
  return phase === 'Failed' ? [{ ...completed, message: 'The pod failed.' }] : [];
};

function gates(object: KubernetesObject): string {
  const { spec, status } = as<Pod>(object);
  const named = spec?.readinessGates ?? [];
  if (named.length === 0) return '<none>';
  const met = named.filter((gate) =>
    status?.conditions?.some(({ type, status }) => type === gate.conditionType && status === 'True'),
  );
  return `${met.length}/${named.length}`;
}

interface Summary {
  readonly ready: number;
  readonly total: number;
  readonly restarts: number;
  readonly lastRestart: string | undefined;
  readonly reason: string;
}

/**
 * summaryOf summarizes the state of a pod in one word: the reason why its containers wait or terminated, where the
 * first containers take precedence.
 */
function summaryOf({ metadata, spec, status = {} }: PartialObject<Pod>): Summary {
  const { containers = [], initContainers = [] } = spec ?? {};
  const { containerStatuses = [], initContainerStatuses = [] } = status;
  let reason = status.reason || status.phase || '';
  const gate = status.conditions?.find(({ type, reason }) => type === 'PodScheduled' && reason === 'SchedulingGated');
  if (gate) reason = 'SchedulingGated';

  const sidecars = new Set(initContainers.filter(isSidecar).map(({ name }) => name));
  let restarts = 0;
  let sidecarRestarts = 0;
  let lastRestart: string | undefined;
  let lastSidecarRestart: string | undefined;
  let ready = 0;
  const total = containers.length + sidecars.size;
  const initializing = initReason(initContainers, initContainerStatuses);
  for (const each of initContainerStatuses.slice(0, initializing.seen)) {
    restarts += each.restartCount ?? 0;
    const ended = each.lastState?.terminated?.finishedAt ?? undefined;
    lastRestart = later(lastRestart, ended);
    if (sidecars.has(each.name)) {
      sidecarRestarts += each.restartCount ?? 0;
      lastSidecarRestart = later(lastSidecarRestart, ended);
      if (each.started && each.ready) ready++;
    }
  }
  if (initializing.reason !== undefined) reason = initializing.reason;
  if (initializing.reason === undefined || isInitialized(status)) {
    restarts = sidecarRestarts;
    lastRestart = lastSidecarRestart;
    let runs = false;
    // Iterates from the last container to the first, so that the reason of the first one wins.
    for (const each of [...containerStatuses].reverse()) {
      restarts += each.restartCount ?? 0;
      lastRestart = later(lastRestart, each.lastState?.terminated?.finishedAt ?? undefined);
      const { waiting, terminated, running } = each.state ?? {};
      if (waiting?.reason) reason = waiting.reason;
      else if (terminated) reason = terminated.reason || exitText(terminated);
      else if (each.ready && running) {
        runs = true;
        ready++;
      }
    }
    if (reason === 'Completed' && runs) reason = isReady(status) ? 'Running' : 'NotReady';
  }
  if (metadata?.deletionTimestamp) {
    if (status.reason === 'NodeLost') reason = 'Unknown';
    else if (!['Failed', 'Succeeded'].includes(status.phase ?? '')) reason = 'Terminating';
  }
  return { ready, total, restarts, lastRestart, reason };
}

/**
 * initReason returns the reason why the first container cannot start, and the number of init containers that were
 * examined.
 */
function initReason(
  containers: readonly PartialObject<Container>[],
  statuses: readonly Status[],
): { readonly reason: string | undefined; readonly seen: number } {
  const sidecars = new Set(containers.filter(isSidecar).map(({ name }) => name));
  for (const [index, { name, state = {}, started }] of statuses.entries()) {
    const { terminated, waiting } = state;
    if (terminated && terminated.exitCode === 0) continue;
    if (sidecars.has(name) && started) continue;
    const seen = index + 1;
    if (terminated) return { seen, reason: `Init:${terminated.reason || exitText(terminated)}` };
    if (waiting?.reason && waiting.reason !== 'PodInitializing') return { seen, reason: `Init:${waiting.reason}` };
    return { seen, reason: `Init:${index}/${containers.length}` };
  }
  return { reason: undefined, seen: statuses.length };
}

function exitText({ signal, exitCode = 0 }: { signal?: number | undefined; exitCode?: number | undefined }): string {
  return signal ? `Signal:${signal}` : `ExitCode:${exitCode}`;
}

function isSidecar({ restartPolicy }: PartialObject<Container>): boolean {
  return restartPolicy === 'Always';
}

function isReady({ conditions }: PartialObject<NonNullable<Pod['status']>>): boolean {
  return conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
}

function isInitialized({ conditions }: PartialObject<NonNullable<Pod['status']>>): boolean {
  return conditions?.some(({ type, status }) => type === 'Initialized' && status === 'True') ?? false;
}

function later(a: string | undefined, b: string | undefined): string | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return (parseTime(b) ?? 0) > (parseTime(a) ?? 0) ? b : a;
}
