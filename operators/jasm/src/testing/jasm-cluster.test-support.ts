import {
  type Cluster,
  type ClusterOptions,
  cluster,
  type OperatorsOptions,
  type RunningOperators,
} from '@bowline/control-plane/testing';
import { type ObjectKey, type ObjectMeta, Pod, type PodSpec, Secret, ServiceAccount } from '@bowline/kubernetes';
import { Event } from '@bowline/kubernetes/events-v1';
import { VirtualClock } from '@bowline/machinery';
import { expect } from 'vitest';
import { POD_ANNOTATIONS } from '../api/names.ts';
import { jasmWith } from '../operator.ts';
import { MockProvider } from '../providers/mock/mock-provider.ts';
import type { SecretProvider } from '../providers/provider.ts';
import { type ConfiguredKind, configureProvider } from '../providers/provider-kinds.ts';

/** RequestEntry is the request of a pod: an entry, a list of them under `secrets`, or a text as users write it. */
export type RequestEntry = string | Readonly<Record<string, unknown>>;

/** PodOptions configures the rest of a pod. */
export interface PodOptions {
  /** Defaults to the cluster's. */
  readonly namespace?: string;
  readonly forceSync?: string;
  readonly metadata?: ObjectMeta;
}

/** JasmClusterOptions configures the operator and its environment. */
export interface JasmClusterOptions extends Partial<Omit<OperatorsOptions & ClusterOptions, 'clock' | 'config'>> {
  /** The operator's section of the configuration. Defaults to `allowAllPaths`. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** The stores that pods may name, instead of the operator's own providers. Defaults to `store`. */
  readonly stores?: readonly SecretProvider[];
  /** Whether to use only the operator's own providers, configured by `config`. Defaults to false. */
  readonly useBuiltInProviders?: boolean;
}

/** JasmCluster is a test cluster with the operator as it is installed: with its own ServiceAccount. */
export interface JasmCluster extends Cluster, RunningOperators {
  /**
   * The operator's clock, which stands still unless a test advances it. It starts at the real time, like that of an API
   * server.
   */
  readonly clock: VirtualClock;
  /** The store behind the provider `mock`. */
  readonly store: MockProvider;
  /** The calls to stores so far, as `operation path`. */
  readonly calls: readonly string[];
  /**
   * createPod creates a pod with a request. It is never scheduled: it stays Pending, and disappears at once when it is
   * deleted.
   */
  createPod(name: string, request: RequestEntry, options?: PodOptions): Promise<Pod>;
  /** changeRequest changes the request of a pod. */
  changeRequest(name: string, request: RequestEntry): Promise<Pod>;
  /** force sets the annotation `force-sync` of a pod. */
  force(name: string, value: string): Promise<Pod>;
  /** untilSecret waits for a Secret that passes the test, and returns it. */
  untilSecret(name: string, test?: (secret: Secret) => boolean): Promise<Secret>;
  /** untilEvent waits for an event about a pod, and returns it. */
  untilEvent(pod: string, reason: string, test?: (event: Event) => boolean): Promise<Event>;
  /** events returns the events about a pod, as `type reason`. */
  events(pod: string): Promise<readonly string[]>;
  /** untilCalled waits until stores were called this many times. */
  untilCalled(times: number): Promise<void>;
}

/** entry returns a request to the provider `mock`: a path, and the name of a Secret. */
export function entry(path: string, secretName: string, more: Readonly<Record<string, unknown>> = {}) {
  return { provider: 'mock', path, secretName, ...more };
}

/** valuesOf returns the decoded values of a Secret. */
export function valuesOf({ data = {} }: Secret): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]),
  );
}

/** kindOf wraps a store as a provider that accepts any path, and records every call. */
export function kindOf(store: SecretProvider, calls: string[]): ConfiguredKind {
  const { fetchSecrets, probeVersion } = store;
  const counted: SecretProvider = {
    name: store.name,
    capabilities: store.capabilities,
    fetchSecret: (ref, signal) => {
      calls.push(`fetchSecret ${ref.path}`);
      return store.fetchSecret(ref, signal);
    },
    ...(probeVersion && {
      probeVersion: (ref, signal) => {
        calls.push(`probeVersion ${ref.path}`);
        return probeVersion.call(store, ref, signal);
      },
    }),
    ...(fetchSecrets && {
      fetchSecrets: (refs, signal) => {
        calls.push(`fetchSecrets ${refs.map(({ path }) => path).join(' ')}`);
        return fetchSecrets.call(store, refs, signal);
      },
    }),
  };
  return configureProvider(
    {
      name: store.name,
      pathFormat: 'any text',
      names: (path) => [path],
      load: () => Promise.resolve(counted),
    },
    undefined,
  );
}

/** A scheduler that does not exist: the pod stays Pending. */
const NO_SCHEDULER = 'nobody';

/** jasmCluster starts the operator with a store in memory. */
export async function jasmCluster(options: JasmClusterOptions = {}): Promise<JasmCluster> {
  const { config = { allowAllPaths: true }, useBuiltInProviders = false, ...others } = options;
  const clock = new VirtualClock({ startMs: Date.now() });
  const store = new MockProvider();
  const { stores = [store], ...rig } = others;
  const calls: string[] = [];
  const providers = () => new Map(stores.map((each) => [each.name, kindOf(each, calls)]));
  const c = await cluster({
    operators: [useBuiltInProviders ? jasmWith() : jasmWith({ providers, env: {} })],
    prefix: 'jasm',
    ...rig,
    clock,
    config: { jasm: config },
  });
  const { namespace, admin } = c;
  await c.until(ServiceAccount, { name: 'default' }, () => true);
  const isAbout =
    (pod: string, reason?: string) =>
    ({ regarding, reason: eventReason }: Event) =>
      regarding?.kind === 'Pod' && regarding.name === pod && (reason === undefined || eventReason === reason);
  const annotate = (name: string, annotations: Readonly<Record<string, string>>): Promise<Pod> =>
    admin.patch(Pod, { namespace, name }, { type: 'merge', body: { metadata: { annotations } } });
  const own: Omit<JasmCluster, keyof (Cluster & RunningOperators)> = {
    clock,
    store,
    calls,
    createPod: (name, request, { namespace: where = namespace, forceSync, metadata = {} } = {}) =>
      admin.create(Pod, {
        metadata: {
          ...metadata,
          namespace: where,
          name,
          annotations: {
            ...metadata.annotations,
            [POD_ANNOTATIONS.secretSync]: textOf(request),
            ...(forceSync === undefined ? {} : { [POD_ANNOTATIONS.forceSync]: forceSync }),
          },
        },
        spec: podSpec(),
      }),
    changeRequest: (name, request) => annotate(name, { [POD_ANNOTATIONS.secretSync]: textOf(request) }),
    force: (name, value) => annotate(name, { [POD_ANNOTATIONS.forceSync]: value }),
    untilSecret: (name, test = () => true) => c.until(Secret, { name }, test),
    untilEvent: async (pod, reason, test = () => true) => {
      const isWanted = (event: Event): boolean => isAbout(pod, reason)(event) && test(event);
      const found = (await c.untilList(Event, { namespace }, (events) => events.some(isWanted))).find(isWanted);
      if (!found) throw new TypeError('the event no longer exists');
      return found;
    },
    events: async (pod) => {
      const { items } = await admin.list(Event, { namespace });
      return items.filter(isAbout(pod)).map(({ type, reason }) => `${type} ${reason}`);
    },
    untilCalled: (times) => expect.poll(() => calls.length).toBeGreaterThanOrEqual(times),
  };
  return Object.defineProperties({ ...c, ...own }, Object.getOwnPropertyDescriptors(c));
}

/** podSpec returns the spec of a pod, or of a workload's pods, that is never scheduled. */
export function podSpec(): PodSpec {
  return { schedulerName: NO_SCHEDULER, containers: [{ name: 'main', image: 'example.test/main:1' }] };
}

/** textOf returns a request as the text of an annotation. JSON is YAML. */
export function textOf(request: RequestEntry): string {
  return typeof request === 'string' ? request : JSON.stringify(request);
}

/** secretKey returns the key of a Secret in the cluster's namespace. */
export function secretKey({ namespace }: Pick<JasmCluster, 'namespace'>, name: string): ObjectKey {
  return { namespace, name };
}
