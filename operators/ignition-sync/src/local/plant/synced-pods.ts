import { ConfigMap, Pod } from '@bowline/kubernetes';
import { type Clock, systemClock, systemRandom } from '@bowline/machinery';
import { Cache } from '@bowline/runtime/cache';
import { isNotFound } from '@bowline/runtime/client';
import type { DisplayState, LocalContext } from '@bowline/runtime/manager';
import { DOMAIN, objectNames } from '../../api/names.ts';
import { decodeReport, type GatewayReport } from '../../protocol/gateway-report.ts';

/** SyncedPodsOptions configures which pods are followed. */
export interface SyncedPodsOptions {
  readonly context: Pick<LocalContext, 'admin' | 'log'>;
  readonly namespace: string;
  /** The IgnitionSync. */
  readonly name: string;
  /** The pods, which report by their names. */
  readonly pods: readonly string[];
  readonly clock?: Clock | undefined;
}

/** The state of a gateway, on its pod: what is displayed of an object must be part of it. */
const STATE_ANNOTATION = `${DOMAIN}/trial-state`;
const MAX_MESSAGE_LENGTH = 200;

/** followReports writes what the agents report onto their pods, for the display, until the signal is aborted. */
export async function followReports(options: SyncedPodsOptions, signal: AbortSignal): Promise<void> {
  const { context, namespace, name, pods, clock = systemClock } = options;
  const { admin, log } = context;
  const cache = new Cache({ client: admin, clock, random: systemRandom, log });
  const reports = cache.informer(ConfigMap, {
    namespaces: [namespace],
    fieldSelector: `metadata.name=${objectNames(name).status}`,
  });
  const written = new Map<string, string>();
  const writing = new Set<Promise<void>>();
  const write = async (pod: string, state: string): Promise<void> => {
    const body = { metadata: { annotations: { [STATE_ANNOTATION]: state } } };
    await admin.patch(Pod, { namespace, name: pod }, { type: 'merge', body }, { signal }).catch((error: unknown) => {
      // A pod that is being replaced gets its state with the next report.
      written.delete(pod);
      if (!signal.aborted && !isNotFound(error)) log.warn('cannot write the state of a gateway', { pod, error });
    });
  };
  using _ = reports.subscribe(({ current }) => {
    for (const pod of pods) {
      const text = current?.data?.[pod];
      const state = text === undefined ? undefined : JSON.stringify(stateOfReport(pod, text));
      if (state === undefined || written.get(pod) === state) continue;
      written.set(pod, state);
      const done = write(pod, state).finally(() => writing.delete(done));
      writing.add(done);
    }
  });
  await cache.run(signal);
  await Promise.allSettled(writing);
}

/** stateOfPod returns the state that followReports wrote. */
export function stateOfPod({ metadata }: Pod): DisplayState {
  const text = metadata?.annotations?.[STATE_ANNOTATION];
  if (text === undefined) return { isReady: false, message: 'not synced yet' };
  return JSON.parse(text) as DisplayState;
}

function stateOfReport(pod: string, text: string): DisplayState {
  try {
    return stateOf(decodeReport(pod, text));
  } catch {
    return { isReady: false, message: 'the report of the agent is not valid' };
  }
}

/** For example `overview, line-1 at 1a2b3c4`. */
function stateOf({
  syncStatus,
  projectsSynced = [],
  syncedCommit,
  errorReason,
  errorMessage,
}: GatewayReport): DisplayState {
  const synced = syncedCommit === undefined ? '' : `${projectsSynced.join(', ')} at ${syncedCommit.slice(0, 7)}`;
  if (syncStatus === 'Synced') return { isReady: true, message: synced };
  const problem = errorReason === undefined ? syncStatus : `${errorReason}: ${errorMessage ?? ''}`;
  const message = synced === '' ? problem : `${synced}; ${problem}`;
  return { isReady: false, message: message.slice(0, MAX_MESSAGE_LENGTH) };
}
