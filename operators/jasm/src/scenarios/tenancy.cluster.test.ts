import { Namespace, Pod, type PolicyRule, Role, RoleBinding, Secret } from '@bowline/kubernetes';
import type { Client } from '@bowline/runtime/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CONSENT_ANNOTATIONS, NAMESPACE_ANNOTATIONS, POD_ANNOTATIONS } from '../api/names.ts';
import { MOCK_SECRET } from '../providers/mock/mock-values.ts';
import { podSpec, textOf, valuesOf } from '../testing/jasm-cluster.test-support.ts';
import { type Scenario, startScenario } from './scenario.test-support.ts';

// Mallory may create pods in the namespace of her team, and nothing else: she may not even read a Secret there. Every
// test is an attempt to get further through the operator, which reads stores and Secrets with its own permissions.

const PODS: PolicyRule = { apiGroups: [''], resources: ['pods'], verbs: ['create', 'patch', 'delete'] };
const TEAM_ROLE = 'arn:aws:iam::123456789012:role/team';

let c: Scenario;
let mallory: Client;
/** The namespace of another team. */
let other: string;
/** The number of Mallory's pods. */
let pods = 0;

beforeAll(async () => {
  c = await startScenario({
    prefix: 'tenancy-team',
    config: {
      policy: [
        {
          namespaces: ['tenancy-team-*'],
          provider: 'aws-secretsmanager',
          paths: ['/tenancy-team-*/**'],
          roles: [TEAM_ROLE],
          regions: ['eu-west-1'],
        },
        { namespaces: ['tenancy-team-*'], provider: 'kubernetes', paths: ['**'] },
        { namespaces: ['tenancy-other-*'], provider: 'aws-secretsmanager', paths: ['**'] },
      ],
    },
  });
  other = await c.createNamespace('tenancy-other');
  const user = c.uniqueName('mallory');
  const metadata = { namespace: c.namespace, name: user };
  await c.admin.create(Role, { metadata, rules: [PODS] });
  const apiGroup = 'rbac.authorization.k8s.io';
  const roleRef = { apiGroup, kind: 'Role', name: user };
  await c.admin.create(RoleBinding, { metadata, subjects: [{ apiGroup, kind: 'User', name: user }], roleRef });
  mallory = await c.clientFor({ user });
  const question = { verb: 'create', group: '', resource: 'pods', namespace: c.namespace };
  while (!(await mallory.canI(question)).allowed);
  await c.aws.put(c.path('db'), { password: 'of the team' });
  await c.aws.put('/other/db', { password: 'of others' });
});
afterAll(() => c[Symbol.asyncDispose]());

/** asks creates a pod of Mallory's with a request, and returns its name. */
async function asks(ask: Readonly<Record<string, unknown>>): Promise<string> {
  const name = `mallory-${++pods}`;
  const annotations = { [POD_ANNOTATIONS.secretSync]: textOf(ask) };
  await mallory.create(Pod, { metadata: { namespace: c.namespace, name, annotations }, spec: podSpec() });
  return name;
}

/**
 * told creates a pod of Mallory's with a request and returns the message of its event. It expects that nothing else
 * happened.
 */
async function told(ask: Readonly<Record<string, unknown>>, reason: string): Promise<string> {
  const calls = c.calls.length;
  const pod = await asks(ask);
  const { note = '' } = await c.untilEvent(pod, reason);
  await c.idle();
  expect(c.calls.slice(calls)).toEqual([]);
  await mallory.delete(Pod, { namespace: c.namespace, name: pod });
  return note;
}

const fromKubernetes = (path: string, secretName: string) => ({ provider: 'kubernetes', path, secretName });

const find = (namespace: string, name: string): Promise<Secret | undefined> =>
  c.admin.find(Secret, { namespace, name });

const make = (namespace: string, name: string, annotations: Readonly<Record<string, string>> = {}): Promise<Secret> =>
  c.admin.create(Secret, { metadata: { namespace, name, annotations }, data: { password: 'c2VjcmV0' } });

it('a pod author gets what the policy allows for the team', async () => {
  await asks(c.fromAws('db'));
  expect(valuesOf(await c.untilSecret('db'))).toEqual({ password: 'of the team' });
});

describe('a pod author cannot read from a store', () => {
  it.each<[what: string, path: (own: string) => string]>([
    ['a path of another team', () => '/other/db'],
    ['a path that starts like their own', () => '/tenancy-teams/db'],
    ['the same path in another case', (own) => `${own.toUpperCase()}/db`],
    ['a path without its first slash', (own) => `${own.slice(1)}/db`],
    ['an ARN', (own) => `arn:aws:secretsmanager:eu-central-1:123456789012:secret:${own}/db-abcdef`],
  ])('by %s', async (_, path) => {
    await told({ ...c.fromAws('elsewhere'), path: path(`/${c.namespace}`) }, 'PathNotPermitted');
    expect(await find(c.namespace, 'elsewhere')).toBeUndefined();
  });

  it.each([
    ['/../other/db', 'PathNotPermitted'],
    ['/./../../other/db', 'PathNotPermitted'],
    ['/%2e%2e/other/db', 'AnnotationInvalid'],
    ['//../other/db', 'PathNotPermitted'],
    ['/a\nb', 'AnnotationInvalid'],
    ['/**', 'AnnotationInvalid'],
  ])('by a path with parent segments: %j', async (end, reason) => {
    await told({ ...c.fromAws('elsewhere'), path: `/${c.namespace}${end}` }, reason);
    expect(await find(c.namespace, 'elsewhere')).toBeUndefined();
  });

  it('to find out what exists there', async () => {
    const ask = (path: string) => told({ ...c.fromAws('oracle'), path }, 'PathNotPermitted');
    const there = await ask('/other/db');
    const notThere = await ask('/other/no');
    expect(there.replaceAll('/other/db', '')).toBe(notThere.replaceAll('/other/no', ''));
  });

  it('with a role or a region that the policy does not allow for the path', async () => {
    const role = 'arn:aws:iam::123456789012:role/admin';
    expect(await told(c.fromAws('db', { secretName: 'x', role }), 'PathNotPermitted')).toContain(role);
    const region = 'us-east-1';
    expect(await told(c.fromAws('db', { secretName: 'x', region }), 'PathNotPermitted')).toContain(region);
    await told(c.fromAws('db', { secretName: 'x', role: TEAM_ROLE, region }), 'PathNotPermitted');
    expect(await find(c.namespace, 'x')).toBeUndefined();
  });

  it('that the owner of the namespace does not permit, whatever the policy allows', async () => {
    const permit = (paths: string | null) =>
      c.admin.patch(
        Namespace,
        { name: c.namespace },
        { type: 'merge', body: { metadata: { annotations: { [NAMESPACE_ANNOTATIONS.permittedPaths]: paths } } } },
      );
    await permit(c.path('a/*'));
    await c.untilEvent('mallory-1', 'PathNotPermitted');
    await told(c.fromAws('b/db', { secretName: 'narrow' }), 'PathNotPermitted');
    // The annotation narrows, and never widens.
    await permit('**');
    await told({ ...c.fromAws('narrow'), path: '/other/db' }, 'PathNotPermitted');
    await permit(null);
    await c.idle();
  });

  it('through the mock, which is not enabled by default', async () => {
    const note = await told({ provider: 'mock', path: '/any', secretName: 'x' }, 'ProviderUnsupported');
    expect(note).toMatch(/supported values: (?!.*mock)/);
  });
});

describe('a pod author cannot read a Secret', () => {
  it.each<[what: string, namespace: () => string, name: string]>([
    ['of another namespace', () => other, 'bank'],
    ['of their own namespace that they may not read themselves', () => c.namespace, 'ci-token'],
    ['of the operator', () => c.managerNamespace, MOCK_SECRET],
  ])('%s', async (_, namespace, name) => {
    await make(namespace(), name);
    await told(fromKubernetes(`${namespace()}/${name}`, 'stolen'), 'SecretFetchFailed');
    expect(await find(c.namespace, 'stolen')).toBeUndefined();
  });

  it('that is shared with others, nor find out that it exists', async () => {
    const notThere = await told(fromKubernetes(`${other}/none`, 'stolen'), 'SecretFetchFailed');
    await make(other, 'unshared');
    await make(other, 'shared-elsewhere', { [CONSENT_ANNOTATIONS.sharedWith]: 'tenancy-third-*, tenancy-teams' });
    for (const name of ['unshared', 'shared-elsewhere']) {
      const note = await told(fromKubernetes(`${other}/${name}`, 'stolen'), 'SecretFetchFailed');
      expect(note.replaceAll(`/${name}`, '/none')).toBe(notThere);
    }
    const nowhere = await told(fromKubernetes(`${other}-2/none`, 'stolen'), 'SecretFetchFailed');
    expect(nowhere.replaceAll(`${other}-2`, other)).toBe(notThere);
    expect(await find(c.namespace, 'stolen')).toBeUndefined();
  });

  it('after its owner has stopped sharing it', async () => {
    const key = { namespace: other, name: 'lent' };
    await make(other, 'lent', { [CONSENT_ANNOTATIONS.sharedWith]: 'tenancy-team-*' });
    await asks(fromKubernetes(`${other}/lent`, 'lent'));
    const before = await c.untilSecret('lent');
    const body = { metadata: { annotations: { [CONSENT_ANNOTATIONS.sharedWith]: null } }, data: { password: 'bmV3' } };
    await c.admin.patch(Secret, key, { type: 'merge', body });
    const pod = await asks(fromKubernetes(`${other}/lent`, 'lent'));
    await c.untilEvent(pod, 'SecretFetchFailed');
    expect(await find(c.namespace, 'lent')).toEqual(before);
  });
});

describe('a pod author cannot write a Secret', () => {
  it('of another namespace', async () => {
    const calls = c.calls.length;
    for (const more of [{ namespace: other }, { secretName: `${other}/db` }, { secretName: '../db' }]) {
      await told(c.fromAws('db', more), 'AnnotationInvalid');
    }
    expect(c.calls.slice(calls)).toEqual([]);
    expect(
      (await c.admin.list(Secret, { namespace: other, labelSelector: 'app.kubernetes.io/managed-by' })).items,
    ).toEqual([]);
  });

  it.each(['Create', 'Merge', 'CreateOrMerge'])('of another owner, by creationPolicy %s', async (creationPolicy) => {
    const name = `theirs-${creationPolicy.toLowerCase()}`;
    const before = await make(c.namespace, name);
    const note = await told(c.fromAws('db', { secretName: name, creationPolicy }), 'SecretConflict');
    expect(note).toContain('not managed by JASM');
    expect(await find(c.namespace, name)).toEqual(before);
  });

  it('over the keys of an owner who allows merging', async () => {
    const before = await make(c.namespace, 'open', { [CONSENT_ANNOTATIONS.mergeAllowed]: 'true' });
    const pod = await asks(c.fromAws('db', { secretName: 'open', creationPolicy: 'Merge' }));
    expect((await c.untilEvent(pod, 'SecretConflict')).note).toContain('already has the keys password');
    await c.idle();
    expect(await find(c.namespace, 'open')).toEqual(before);
  });

  it('that is used by another workload', async () => {
    await c.aws.put(c.path('mine'), { password: 'of Mallory' });
    const before = await find(c.namespace, 'db');
    const note = await told(c.fromAws('mine', { secretName: 'db' }), 'SecretConflict');
    expect(note).toContain('is used by Pod/mallory-1');
    expect(await find(c.namespace, 'db')).toEqual(before);
  });

  it('of a type that the cluster reads as a token', async () => {
    await told(c.fromAws('db', { secretName: 'x', type: 'kubernetes.io/service-account-token' }), 'AnnotationInvalid');
  });
});
