import { systemClock } from '@bowline/machinery';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BothServers, bothServers, type ServerResponses } from '../authorization/both-servers.test-support.ts';
import { ADMIN, type GuardedResponse } from '../authorization/guarded-server.test-support.ts';

const PODS = '/api/v1/namespaces/NS/pods';
const MAPS = '/api/v1/namespaces/NS/configmaps';
const CLASSES = '/apis/scheduling.k8s.io/v1/priorityclasses';
const CONTAINERS = [{ name: 'a', image: 'a' }];

let servers: BothServers;
beforeAll(async () => {
  servers = await bothServers({ admits: true, clock: systemClock });
  await seed('/api/v1/namespaces/NS/serviceaccounts', {
    metadata: { name: 'puller' },
    imagePullSecrets: [{ name: 'pull' }],
    automountServiceAccountToken: false,
  });
  await seed('/api/v1/namespaces/NS/serviceaccounts', { metadata: { name: 'default' } });
  await seed(CLASSES, { metadata: { name: 'OWN-high' }, value: 7, preemptionPolicy: 'Never' });
});
afterAll(async () => {
  await servers?.[Symbol.asyncDispose]();
});

async function seed(path: string, object: { metadata: { name: string }; [field: string]: unknown }): Promise<void> {
  const { real, ours } = await servers.both(ADMIN, 'POST', path, object);
  // The control plane of the real cluster creates the default account itself.
  expect([201, 409]).toContain(real.code);
  expect(ours.code).toBe(201);
  if (path === CLASSES) servers.onDispose(() => servers.both(ADMIN, 'DELETE', `${path}/${object.metadata.name}`));
}

function refusals({ real, ours }: ServerResponses): void {
  expect(real.body.kind).toBe('Status');
  expect(ours).toEqual(real);
}

/** completed returns what the plugins set in a Pod; other tests compare the defaults of the kind itself. */
function completed({ code, body }: GuardedResponse): unknown {
  const { volumes, containers, initContainers, ...rest } = body.spec as Record<string, unknown>;
  const { serviceAccountName, serviceAccount, imagePullSecrets, tolerations, priority, priorityClassName } = rest;
  const mounts = (each: unknown): unknown =>
    (each as { volumeMounts?: unknown }[] | undefined)?.map((one) => one.volumeMounts);
  const comparable = {
    code,
    volumes,
    containers: mounts(containers),
    initContainers: mounts(initContainers),
    serviceAccountName,
    serviceAccount,
    imagePullSecrets,
    tolerations,
    priority,
    priorityClassName,
    preemptionPolicy: rest.preemptionPolicy,
  };
  return JSON.parse(JSON.stringify(comparable).replaceAll(/kube-api-access-[a-z0-9]{5}/g, 'kube-api-access-NNNNN'));
}

describe('admission completes Pods as the real server does', () => {
  it.each<[string, object]>([
    ['with an empty spec', {}],
    [
      'with an init container and an existing mount',
      {
        initContainers: [{ name: 'i', image: 'a' }],
        containers: [
          {
            name: 'a',
            image: 'a',
            volumeMounts: [{ name: 'v', mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' }],
          },
          { name: 'b', image: 'a', volumeMounts: [{ name: 'v', mountPath: '/v' }] },
        ],
        volumes: [{ name: 'v', emptyDir: {} }],
      },
    ],
    ['with an account that mounts no token', { serviceAccountName: 'puller' }],
    [
      'with automountServiceAccountToken although the account disables it',
      { serviceAccountName: 'puller', automountServiceAccountToken: true },
    ],
    ['with its own pull secrets', { serviceAccountName: 'puller', imagePullSecrets: [{ name: 'own' }] }],
    ['with tolerations', { tolerations: [{ key: 'node.kubernetes.io/not-ready', operator: 'Exists' }] }],
    ['with a toleration for all taints', { tolerations: [{ operator: 'Exists' }] }],
    ['with a priority class', { priorityClassName: 'OWN-high' }],
    ['with a system priority class', { priorityClassName: 'system-cluster-critical' }],
  ])('%s', async (_what, spec) => {
    if ((spec as { priorityClassName?: string }).priorityClassName?.startsWith('system')) {
      await servers.both(ADMIN, 'POST', CLASSES, {
        metadata: { name: 'system-cluster-critical' },
        value: 2_000_000_000,
      });
    }
    const pod = { metadata: { generateName: 'pod-' }, spec: { containers: CONTAINERS, ...spec } };
    const { real, ours } = await servers.both(ADMIN, 'POST', `${PODS}?dryRun=All`, pod);
    expect(real.code).toBe(201);
    expect(completed(ours)).toEqual(completed(real));
  });
});

describe('admission refuses with the message of the real server', () => {
  it.each<[string, string, string, unknown?]>([
    [
      'a missing service account',
      'POST',
      PODS,
      { metadata: { generateName: 'a-' }, spec: { containers: CONTAINERS, serviceAccountName: 'no' } },
    ],
    [
      'a missing priority class',
      'POST',
      PODS,
      { metadata: { name: 'a' }, spec: { containers: CONTAINERS, priorityClassName: 'no' } },
    ],
    ['a priority', 'POST', PODS, { metadata: { name: 'a' }, spec: { containers: CONTAINERS, priority: 5 } }],
    [
      'a preemption policy',
      'POST',
      PODS,
      { metadata: { name: 'a' }, spec: { containers: CONTAINERS, preemptionPolicy: 'Never' } },
    ],
    [
      'a mirror Pod with an account',
      'POST',
      PODS,
      {
        metadata: { name: 'a', annotations: { 'kubernetes.io/config.mirror': 'x' } },
        spec: { containers: CONTAINERS, serviceAccountName: 'default' },
      },
    ],
    ['objects in a missing namespace', 'POST', '/api/v1/namespaces/OWN-none/configmaps', { metadata: { name: 'a' } }],
    ['tokens in a missing namespace', 'POST', '/api/v1/namespaces/OWN-none/serviceaccounts/default/token', {}],
    ['the deletion of a protected namespace', 'DELETE', '/api/v1/namespaces/kube-public?dryRun=All'],
  ])('%s', async (what, method, path, body) => {
    if (what.startsWith('the deletion'))
      await servers.both(ADMIN, 'POST', '/api/v1/namespaces', { metadata: { name: 'kube-public' } });
    refusals(await servers.both(ADMIN, method, path, body));
  });
});

describe('owner references', () => {
  const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: '1' };

  it.each<[string, string, string, string, unknown]>([
    [
      'may be set on create',
      'mapper',
      'POST',
      MAPS,
      { metadata: { generateName: 'a-', ownerReferences: [reference] } },
    ],
    [
      'may block deletion if the user may set finalizers on the owner',
      'blocker',
      'POST',
      MAPS,
      { metadata: { generateName: 'a-', ownerReferences: [{ ...reference, blockOwnerDeletion: true }] } },
    ],
    [
      'may not block deletion otherwise',
      'mapper',
      'POST',
      MAPS,
      { metadata: { name: 'a', ownerReferences: [{ ...reference, blockOwnerDeletion: true }] } },
    ],
    [
      'may not block the deletion of an unknown kind',
      'mapper',
      'POST',
      MAPS,
      {
        metadata: {
          name: 'a',
          ownerReferences: [{ ...reference, apiVersion: 'ex.test/v1', kind: 'Widget', blockOwnerDeletion: true }],
        },
      },
    ],
    [
      'may not be set on objects that the user may not delete',
      'mapper',
      'PUT',
      `${MAPS}/owned`,
      { metadata: { name: 'owned', ownerReferences: [reference] } },
    ],
    [
      'may be set on objects that the user may delete',
      'blocker',
      'PUT',
      `${MAPS}/owned`,
      { metadata: { name: 'owned', ownerReferences: [reference] } },
    ],
  ])('%s', async (_what, user, method, path, body) => {
    await servers.both(ADMIN, 'POST', MAPS, { metadata: { name: 'owned' } });
    const { real, ours } = await servers.both(servers.userOf(user), method, path, body);
    if (real.code < 400) expect(ours.code).toBe(real.code);
    else refusals({ real, ours });
  });
});
