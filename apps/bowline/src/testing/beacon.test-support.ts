import { ConfigMap } from '@bowline/kubernetes';
import { controller, defineOperator, installNamespace, type Operator } from '@bowline/runtime';
import { defineResource, s } from '@bowline/runtime/resource';
import type { Registry } from '../operators/registry.ts';

/** Beacon is a cluster-scoped singleton. */
const Beacon = defineResource({
  group: 'cli.test.bowline.dev',
  version: 'v1',
  kind: 'Beacon',
  scope: 'Cluster',
  spec: s.object({ color: s.string() }),
  status: s.object({}),
});

/** Lighthouse is a kind of another project. */
export const Lighthouse = defineResource({
  group: 'harbours.test.bowline.dev',
  version: 'v1',
  kind: 'Lighthouse',
  scope: 'Cluster',
  spec: s.object({ height: s.integer() }),
});

interface BeaconConfig {
  readonly workNamespace: string;
}

const work = installNamespace('work', ({ workNamespace }: BeaconConfig) => workNamespace, {
  labels: { 'pod-security.kubernetes.io/enforce': 'privileged' },
});

const sample = {
  apiVersion: 'cli.test.bowline.dev/v1',
  kind: 'Beacon',
  metadata: { name: 'cluster' },
  spec: { color: 'red' },
};

/** beacon works for a cluster-scoped singleton, in a namespace that is a setting, and uses a kind of another project. */
export const beacon: Operator = defineOperator({
  name: 'beacon',
  domain: 'bowline.dev',
  resources: [Beacon],
  dependencies: [Lighthouse],
  config: s.object({ workNamespace: s.string().default('beacons') }),
  namespaces: [work],
  setup: ({ config }) => ({ namespace: config.workNamespace }),
  controllers: [
    controller(Beacon, { fieldSelector: 'metadata.name=cluster' })
      .using<{ readonly namespace: string }>()
      .owns(ConfigMap, { namespaces: [work.name], names: ['beacon'] })
      .reconcile(async ({ object, apply, event, deps }) => {
        const { color } = object.spec;
        await apply(ConfigMap, { metadata: { namespace: deps.namespace, name: 'beacon' }, data: { color } });
        event('Normal', 'Lit', `it is ${color}`);
      }),
  ],
  samples: [sample],
});

/** beacons is a registry of this operator alone. */
export const beacons: Registry = {
  beacon: { summary: 'lights beacons', load: () => Promise.resolve(beacon) },
};
