import {
  type Cluster,
  type ClusterOptions,
  cluster,
  type OperatorsOptions,
  type RunningOperators,
} from '@bowline/control-plane/testing';
import { ConfigMap, type ObjectKey } from '@bowline/kubernetes';
import { Event } from '@bowline/kubernetes/events-v1';
import { VirtualClock } from '@bowline/machinery';
import { findCondition } from '@bowline/runtime';
import type { WrittenOf } from '@bowline/runtime/resource';
import { expect } from 'vitest';
import { ConfigMapSync } from '../api/config-map-sync.ts';
import { configMapSync } from '../operator.ts';

/** SpecChange holds the fields of a spec besides its source. */
export type SpecChange = Partial<WrittenOf<typeof ConfigMapSync>['spec']>;

/** ConfigMapKey is the key of a ConfigMap. */
export type ConfigMapKey = ObjectKey & { readonly namespace: string };

/**
 * Scenario is a test cluster with the operator as it is installed: with its own ServiceAccount and its webhook. The
 * tests of a file share one, and use names of their own.
 */
export interface Scenario extends Cluster, RunningOperators {
  /** The operator's clock, which stands still unless a test advances it: without that, only events cause anything. */
  readonly clock: VirtualClock;
  /** The default namespace of copies. */
  readonly target: string;
  /** source creates a ConfigMap in the scenario's namespace. */
  source(name: string, content?: Pick<ConfigMap, 'data' | 'binaryData' | 'immutable'>): Promise<ConfigMap>;
  /**
   * sync creates a ConfigMapSync of the ConfigMap with the same name. Its destination is the target unless the spec
   * sets one.
   */
  sync(name: string, spec?: SpecChange): Promise<ConfigMapSync>;
  /** from returns the key of the ConfigMap of that name in the scenario's namespace, to the one in the target. */
  from(name: string): ConfigMapKey;
  to(name: string): ConfigMapKey;
  /** edit changes keys of a ConfigMap, as another client; null removes one. */
  edit(key: ObjectKey, data: Readonly<Record<string, string | null>>): Promise<ConfigMap>;
  /** change changes the spec of a ConfigMapSync. */
  change(name: string, spec: object): Promise<ConfigMapSync>;
  /** untilReady waits until the current generation of a ConfigMapSync has a reason of the condition Ready. */
  untilReady(name: string, reason?: string): Promise<ConfigMapSync>;
  /** untilEvent waits for an event about a ConfigMapSync. */
  untilEvent(name: string, reason: string): Promise<Event>;
  /** untilRequested waits until the operator has made a request, among the requests since `from`. */
  untilRequested(request: string, from?: number): Promise<void>;
}

/** startScenario starts the operator, as it is installed unless the options override that. */
export async function startScenario(options: Partial<OperatorsOptions & ClusterOptions> = {}): Promise<Scenario> {
  const clock = new VirtualClock();
  const c = await cluster({
    operators: [configMapSync],
    prefix: 'scenario',
    clock,
    ...options,
  });
  const { namespace, admin } = c;
  const target = await c.createNamespace('scenario-target');
  const from = (name: string): ConfigMapKey => ({ namespace, name });
  const to = (name: string): ConfigMapKey => ({ namespace: target, name });
  const own: Omit<Scenario, keyof (Cluster & RunningOperators)> = {
    clock,
    target,
    from,
    to,
    source: (name, content = { data: { color: 'red' } }) =>
      admin.create(ConfigMap, { metadata: from(name), ...content }),
    sync: (name, spec = {}) => {
      const { destinations, destinationSelector } = spec;
      const to = destinations || destinationSelector ? {} : { destinationNamespace: target };
      const given = { sourceNamespace: namespace, configMapName: name, ...to, ...spec };
      return admin.create(ConfigMapSync, ConfigMapSync.withDefaults({ metadata: from(name), spec: given }));
    },
    edit: (key, data) => admin.patch(ConfigMap, key, { type: 'merge', body: { data } }),
    change: (name, spec) => admin.patch(ConfigMapSync, from(name), { type: 'merge', body: { spec } }),
    untilReady: (name, reason = 'AllComponentsReady') =>
      c.until(ConfigMapSync, from(name), (sync) => {
        const ready = findCondition(sync, 'Ready');
        return ready?.reason === reason && ready.observedGeneration === sync.metadata?.generation;
      }),
    untilEvent: async (name, reason) => {
      const isExpected = ({ regarding, reason: actual }: Event) => regarding?.name === name && actual === reason;
      const found = (await c.untilList(Event, { namespace }, (events) => events.some(isExpected))).find(isExpected);
      if (!found) throw new TypeError('the event was deleted');
      return found;
    },
    untilRequested: (request, start = 0) => expect.poll(() => c.requests.slice(start)).toContain(request),
  };
  return Object.defineProperties({ ...c, ...own }, Object.getOwnPropertyDescriptors(c));
}
