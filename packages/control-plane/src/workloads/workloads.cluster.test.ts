import { describe } from 'vitest';
import { cluster } from '../testing/cluster.ts';
import { deployments } from './behaviours/deployments.test-support.ts';
import { garbageCollection } from './behaviours/garbage-collection.test-support.ts';
import { jobs } from './behaviours/jobs.test-support.ts';
import { namespaces } from './behaviours/namespaces.test-support.ts';
import { orderedAndDaemons } from './behaviours/ordered-and-daemons.test-support.ts';
import { volumes } from './behaviours/volumes.test-support.ts';

// On the shared control plane: with the controllers of the real one, or with ours on the embedded one.
describe('garbage collection', () => garbageCollection(() => cluster()));
describe('namespaces', () => namespaces(() => cluster()));
describe('Deployments', () => deployments(() => cluster()));
describe('StatefulSets, DaemonSets and Services', () => orderedAndDaemons(() => cluster()));
describe('Jobs', () => jobs(() => cluster()));
describe('volumes', () => volumes(() => cluster()));
