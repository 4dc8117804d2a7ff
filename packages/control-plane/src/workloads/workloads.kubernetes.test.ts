import {
  ConfigMap,
  CustomResourceDefinition,
  Deployment,
  EndpointSlice,
  Job,
  PodDisruptionBudget,
  Service,
  ServiceAccount,
  StatefulSet,
} from '@bowline/kubernetes';
import { Event } from '@bowline/kubernetes/events-v1';
import { systemClock } from '@bowline/machinery';
import { connect, connectionFrom, parseKubeconfig } from '@bowline/runtime/client';
import { installCustomResourceDefinitions } from '@bowline/runtime/install';
import { defineResource, s } from '@bowline/runtime/resource';
import { ownerReference } from '@bowline/runtime/writing';
import { afterAll, describe, expect, it } from 'vitest';
import type { ControlPlane } from '../control-plane.ts';
import { startControlPlane } from '../start-control-plane.ts';
import { type Cluster, cluster } from '../testing/cluster.ts';
import { sharedControlPlane } from '../testing/shared-control-plane.ts';
import { container, podTemplate, selector } from './behaviours/behaviour.test-support.ts';
import { deployments } from './behaviours/deployments.test-support.ts';
import { garbageCollection } from './behaviours/garbage-collection.test-support.ts';
import { jobs } from './behaviours/jobs.test-support.ts';
import { namespaces } from './behaviours/namespaces.test-support.ts';
import { orderedAndDaemons } from './behaviours/ordered-and-daemons.test-support.ts';
import { volumes } from './behaviours/volumes.test-support.ts';
import { startWorkloads } from './start-workloads.ts';

const running: AsyncDisposable[] = [];
let controlPlane: Promise<ControlPlane> | undefined;
let restart: () => Promise<void> = () => Promise.resolve();

/** A real API server whose only controllers are ours; started by the first test that needs it. */
async function start(): Promise<ControlPlane> {
  const started = await startControlPlane({ kind: 'kubernetes', controllerManager: false, scheduler: false });
  running.push(started);
  const document = await started.kubeconfig('admin');
  const parsed = await parseKubeconfig(JSON.stringify(document), document['current-context']);
  const authority = document.clusters[0]?.cluster['certificate-authority-data'] ?? '';
  const transport = connect(connectionFrom(parsed));
  running.push(transport);
  const rootCertificate = Buffer.from(authority, 'base64').toString();
  let workloads = startWorkloads({ transport, rootCertificate });
  running.push({ [Symbol.asyncDispose]: () => workloads.stop() });
  restart = async () => {
    await workloads.stop();
    workloads = startWorkloads({ transport, rootCertificate });
  };
  return started;
}

afterAll(async () => {
  for (const each of running.splice(0).toReversed()) await each[Symbol.asyncDispose]();
});

const open = async (): Promise<Cluster> => {
  // Skips if no control plane is available.
  await sharedControlPlane();
  controlPlane ??= start();
  return cluster({ controlPlane: await controlPlane });
};

describe('garbage collection', () => garbageCollection(open));
describe('namespaces', () => namespaces(open));
describe('Deployments', () => deployments(open));
describe('StatefulSets, DaemonSets and Services', () => orderedAndDaemons(open));
describe('Jobs', () => jobs(open));
describe('volumes', () => volumes(open));

describe('our own controllers', () => {
  it('write nothing about what is as it should be, also after a restart', async () => {
    await using c = await open();
    const metadata = { name: 'web', namespace: c.namespace };
    const spec = { replicas: 1, selector, template: podTemplate() };
    await c.admin.create(Deployment, { metadata, spec });
    await c.admin.create(StatefulSet, { metadata, spec: { ...spec, serviceName: 'web' } });
    await c.admin.create(Service, { metadata, spec: { selector: { app: 'web' }, ports: [{ port: 80 }] } });
    await c.admin.create(Service, {
      metadata: { ...metadata, name: 'idle' },
      spec: { selector: { no: 'body' }, ports: [{ port: 80 }] },
    });
    const template = { spec: { restartPolicy: 'Never' as const, containers: [container] } };
    await c.admin.create(Job, { metadata, spec: { template } });
    await c.admin.create(PodDisruptionBudget, { metadata, spec: { minAvailable: 1, selector } });
    await c.until(Deployment, metadata, ({ status }) => status?.availableReplicas === 1);
    await c.until(StatefulSet, metadata, ({ status }) => status?.availableReplicas === 1);
    await c.until(Job, metadata, ({ status }) => status?.completionTime !== undefined);
    await c.until(PodDisruptionBudget, metadata, ({ status }) => status?.disruptionsAllowed === 1);
    await c.untilList(EndpointSlice, {}, (slices) => slices.some(({ endpoints }) => endpoints?.length === 2));
    await settled(c);

    const since = systemClock.now();
    await restart();
    await settled(c);
    // Events are sent shortly after what they report.
    const { items } = await c.admin.list(Event, { namespace: c.namespace });
    const ofBefore = items.filter(({ eventTime }) => Date.parse(eventTime ?? '') < since);
    const writes = (await c.controlPlane.audit(since))
      .filter(({ objectRef }) => objectRef?.namespace === c.namespace)
      .filter(({ objectRef }) => !ofBefore.some(({ metadata }) => metadata?.name === objectRef?.name))
      .filter(({ verb }) => !['get', 'list', 'watch'].includes(verb))
      .map(({ verb, objectRef }) => [verb, objectRef?.resource, objectRef?.subresource, objectRef?.name].join(' '));
    expect(writes).toEqual([]);
  });

  it('collect what belongs to an object of a kind that came later', async () => {
    await using c = await open();
    const group = `${c.uniqueName('group')}.test`;
    const Site = defineResource({ group, version: 'v1', kind: 'Site', scope: 'Namespaced', spec: s.object({}) });
    await installCustomResourceDefinitions(c.admin, [Site]);
    const name = `${Site.plural}.${group}`;
    c.onDispose(() => c.admin.delete(CustomResourceDefinition, { name }));
    const metadata = { name: 'site', namespace: c.namespace };
    const site = await c.admin.create(Site, { metadata, spec: {} });
    const owner = ownerReference({ resource: Site, object: site });
    await c.admin.create(ConfigMap, { metadata: { ...metadata, ownerReferences: [owner] } });
    const stray = { ...metadata, name: 'stray', ownerReferences: [{ ...owner, name: 'none' }] };
    await c.admin.create(ConfigMap, { metadata: stray });
    await c.untilGone(ConfigMap, { name: 'stray' });
    await c.admin.get(ConfigMap, metadata);
    await c.admin.delete(Site, metadata);
    await c.untilGone(ConfigMap, metadata);
  });
});

/**
 * settled waits until the controllers have rolled out a workload in another namespace, which they observe after all
 * others.
 */
async function settled(c: Cluster): Promise<void> {
  const namespace = await c.createNamespace('settled');
  await c.until(ServiceAccount, { namespace, name: 'default' }, () => true);
  const metadata = { name: 'last', namespace };
  await c.admin.create(Deployment, { metadata, spec: { replicas: 1, selector, template: podTemplate() } });
  await c.until(Deployment, metadata, ({ status }) => status?.availableReplicas === 1);
}
