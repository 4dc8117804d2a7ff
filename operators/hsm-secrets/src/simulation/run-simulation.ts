import { keyString, Pod, Secret } from '@bowline/kubernetes';
import type { Clock, Random } from '@bowline/machinery';
import type { Log } from '@bowline/runtime';
import { Cache } from '@bowline/runtime/cache';
import { type Client, serviceAccountToken } from '@bowline/runtime/client';
import { DISCOVERY_SELECTOR, discoveryName, LABELS, MANAGER } from '../api/names.ts';
import { runDiscovery } from '../discovery/run-discovery.ts';
import { type DiscoveryPod, podView } from '../pool/discovery-pod.ts';
import { SimulatedNodes } from './simulated-node.ts';
import { SIMULATION_SECRET, simulatedDevices } from './simulation-secret.ts';

/** SimulationOptions configures the simulation. */
export interface SimulationOptions {
  /** The operator's client. It needs the permission to request tokens of ServiceAccounts. */
  readonly client: Client;
  /** The namespace of the Secret with the simulated devices. */
  readonly managerNamespace: string;
  /** The namespaces that the manager is limited to. Undefined: all. */
  readonly namespaces: readonly string[] | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/**
 * runSimulation replaces the containers of discovery pods, which do not run on a simulated node: for each Ready pod it
 * runs the same discovery with a token of that pod, on simulated devices. Reports therefore pass the admission policies
 * with the permissions of the pod.
 */
export async function runSimulation(options: SimulationOptions, signal: AbortSignal): Promise<void> {
  const { client, managerNamespace, namespaces, clock, random, log } = options;
  const nodes = new SimulatedNodes();
  const cache = new Cache({ client, clock, random, log });
  const secrets = cache.informer(Secret, {
    namespaces: [managerNamespace],
    fieldSelector: `metadata.name=${SIMULATION_SECRET}`,
  });
  const pods = cache.informer(Pod, {
    ...(namespaces ? { namespaces } : {}),
    labelSelector: `${DISCOVERY_SELECTOR},${LABELS.managedBy}=${MANAGER}`,
    view: podView,
  });
  const running = new Map<string, { readonly end: AbortController; readonly done: Promise<void> }>();
  const update = (): void => nodes.update(simulatedDevices(secrets.list()[0]));
  const reconcilePods = (): void => {
    const wanted = new Map(
      pods
        .list()
        .filter(isRunning)
        .map((pod) => [pod.uid, pod]),
    );
    for (const [uid, { end }] of running) {
      if (wanted.has(uid)) continue;
      end.abort();
      running.delete(uid);
    }
    for (const [uid, pod] of wanted) if (!running.has(uid)) running.set(uid, start(pod));
  };
  const start = (pod: DiscoveryPod) => {
    const end = new AbortController();
    const source = nodes.sourceFor(pod.nodeName);
    const done = discoverAs(pod, { ...options, source, signal: AbortSignal.any([signal, end.signal]) }).catch(
      (error: unknown) => log.error('the simulated discovery of a pod has failed', { pod: keyString(pod), error }),
    );
    return { end, done };
  };
  const subscriptions = [secrets.subscribe(update), pods.subscribe(reconcilePods)];
  try {
    await cache.run(signal);
  } finally {
    for (const subscription of subscriptions) subscription[Symbol.dispose]();
    for (const { end } of running.values()) end.abort();
    await Promise.all([...running.values()].map(({ done }) => done));
  }
}

function isRunning({ isReady, isLive, isTerminating, device }: DiscoveryPod): boolean {
  return isReady && isLive && !isTerminating && device !== undefined;
}

async function discoverAs(
  { namespace, name, uid, nodeName, device = '' }: DiscoveryPod,
  options: SimulationOptions & {
    readonly source: ReturnType<SimulatedNodes['sourceFor']>;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const { client, clock, random, log, source, signal } = options;
  const boundObject = { apiVersion: 'v1', kind: 'Pod', name, uid };
  const account = { namespace, name: discoveryName(device) };
  await using own = client.withToken(serviceAccountToken(client, account, { boundObject }));
  await runDiscovery({
    client: own,
    device,
    pod: { namespace, name, uid },
    nodeName,
    source,
    clock,
    random,
    log,
    signal,
  });
}
