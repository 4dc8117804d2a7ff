import { connect, connectionFrom, parseKubeconfig } from '@bowline/runtime';
import { afterAll, describe } from 'vitest';
import type { ControlPlane } from '../control-plane.ts';
import { startControlPlane } from '../start-control-plane.ts';
import { type Cluster, cluster } from '../testing/cluster.ts';
import { sharedControlPlane } from '../testing/shared-control-plane.ts';
import { deployments } from './behaviours/deployments.test-support.ts';
import { garbageCollection } from './behaviours/garbage-collection.test-support.ts';
import { jobs } from './behaviours/jobs.test-support.ts';
import { namespaces } from './behaviours/namespaces.test-support.ts';
import { orderedAndDaemons } from './behaviours/ordered-and-daemons.test-support.ts';
import { startWorkloads } from './start-workloads.ts';

const running: AsyncDisposable[] = [];
let controlPlane: Promise<ControlPlane> | undefined;

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
  running.push(startWorkloads({ transport, rootCertificate }));
  return started;
}

afterAll(async () => {
  for (const each of running.splice(0).toReversed()) await each[Symbol.asyncDispose]();
});

const open = async (): Promise<Cluster> => {
  // Skips where no control plane can be had.
  await sharedControlPlane();
  controlPlane ??= start();
  return cluster({ controlPlane: await controlPlane });
};

describe('garbage collection', () => garbageCollection(open));
describe('namespaces', () => namespaces(open));
describe('Deployments', () => deployments(open));
describe('StatefulSets, DaemonSets and Services', () => orderedAndDaemons(open));
describe('Jobs', () => jobs(open));
