import type { ObjectMeta } from '@bowline/kubernetes';
import { describe, expect, it } from 'vitest';
import { workloadOf } from './workload.ts';

const owned = (apiVersion: string, kind: string, name: string, more: ObjectMeta = {}): ObjectMeta => ({
  name: 'a-pod',
  ownerReferences: [{ apiVersion, kind, name, uid: 'u', controller: true }],
  ...more,
});

describe('workloadOf', () => {
  it.each<[what: string, pod: ObjectMeta, id: string]>([
    ['a pod without a controller is its own workload', { name: 'a-pod' }, 'Pod/a-pod'],
    [
      'an owner that does not control it does not count',
      { name: 'a-pod', ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'u' }] },
      'Pod/a-pod',
    ],
    [
      'a ReplicaSet of a Deployment is resolved to the Deployment',
      owned('apps/v1', 'ReplicaSet', 'shop-7d4b', { labels: { 'pod-template-hash': '7d4b' } }),
      'Deployment.apps/shop',
    ],
    [
      'a ReplicaSet whose name does not end with the hash is a workload itself',
      owned('apps/v1', 'ReplicaSet', 'shop-7d4b', { labels: { 'pod-template-hash': 'ffff' } }),
      'ReplicaSet.apps/shop-7d4b',
    ],
    [
      'a ReplicaSet without the label is a workload itself',
      owned('apps/v1', 'ReplicaSet', 'shop-'),
      'ReplicaSet.apps/shop-',
    ],
    ['a StatefulSet', owned('apps/v1', 'StatefulSet', 'db'), 'StatefulSet.apps/db'],
    [
      'a Job of a CronJob is resolved to the CronJob',
      owned('batch/v1', 'Job', 'nightly-29384720'),
      'CronJob.batch/nightly',
    ],
    ['any other Job is a workload itself', owned('batch/v1', 'Job', 'import-2026'), 'Job.batch/import-2026'],
    ['a third-party kind', owned('argoproj.io/v1alpha1', 'Rollout', 'shop'), 'Rollout.argoproj.io/shop'],
  ])('%s', (_, pod, id) => {
    expect(workloadOf(pod).id).toBe(id);
  });
});
