import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AUTHZ, type BothServers, bothServers, essential } from '../authorization/both-servers.test-support.ts';
import { ADMIN, type GuardedResponse } from '../authorization/guarded-server.test-support.ts';

let servers: BothServers;
beforeAll(async () => {
  servers = await bothServers();
});
afterAll(async () => {
  await servers?.[Symbol.asyncDispose]();
});

const USERS: readonly object[] = [
  { user: 'OWN:cat' },
  { user: 'OWN:ann', groups: ['system:authenticated'] },
  { user: 'OWN:nobody', groups: ['OWN:readers'] },
  { groups: ['OWN:owners'] },
  { user: 'OWN:lost' },
  { user: 'OWN:stray' },
  { user: 'system:serviceaccount:NS:scaler' },
  { user: 'system:serviceaccount:NS:near', groups: ['system:serviceaccounts'] },
  { user: 'system:serviceaccount:kube-system:job-controller' },
  { user: 'OWN:x', groups: ['system:masters'] },
  { user: 'OWN:OWN' },
];

const RESOURCES: readonly object[] = [
  { verb: 'get', resource: 'pods', namespace: 'NS' },
  { verb: 'list', resource: 'pods' },
  { verb: 'get', resource: 'pods', subresource: 'log', namespace: 'NS', name: 'x' },
  { verb: 'get', resource: 'pods', subresource: 'exec', namespace: 'NS', name: 'x' },
  { verb: 'get', group: 'apps', resource: 'deployments', namespace: 'other' },
  { verb: 'watch', group: 'apps', resource: 'deployments' },
  { verb: 'patch', group: 'apps', resource: 'deployments', subresource: 'scale', namespace: 'NS' },
  { verb: 'patch', group: 'any.example', resource: 'things', subresource: 'scale' },
  { verb: 'get', resource: 'secrets', namespace: 'NS', name: 'a' },
  { verb: 'get', resource: 'secrets', namespace: 'NS', name: 'c' },
  { verb: 'get', resource: 'secrets', namespace: 'NS' },
  { verb: 'get', resource: 'secrets', namespace: 'default', name: 'a' },
  { verb: '*', group: '*', resource: '*', namespace: 'NS' },
  { verb: '*', group: '*', resource: '*' },
  { verb: 'update', group: 'batch', resource: 'jobs', subresource: 'status' },
  { verb: 'constructor', resource: '__proto__' },
  {},
];

const PATHS = [
  '/metrics',
  '/metrics/',
  '/logs',
  '/logs/x',
  '/debug',
  '/healthz',
  '/api',
  '/apis/apps',
  '/',
  '',
  '*',
  '/openid/v1/jwks',
];
describe('access reviews return the result of the real server', () => {
  it.each(USERS)('about objects, for %j', async (spec) => {
    for (const resourceAttributes of RESOURCES) {
      const responses = await servers.both(ADMIN, 'POST', `${AUTHZ}/subjectaccessreviews`, {
        spec: { ...spec, resourceAttributes },
      });
      expect([resourceAttributes, responses.ours.code, responses.ours.body.status]).toEqual([
        resourceAttributes,
        responses.real.code,
        responses.real.body.status,
      ]);
    }
  });

  it.each(USERS)('about paths, for %j', async (spec) => {
    for (const path of PATHS) {
      for (const verb of ['get', 'post']) {
        const nonResourceAttributes = { path, verb };
        const responses = await servers.both(ADMIN, 'POST', `${AUTHZ}/subjectaccessreviews`, {
          spec: { ...spec, nonResourceAttributes },
        });
        const [expected, actual] = [responses.real, responses.ours].map(
          ({ body }) => body.status as { allowed: boolean; reason?: string },
        );
        expect([path, verb, actual?.allowed]).toEqual([path, verb, expected?.allowed]);
        // The roles for discovery and public information overlap, and the real server uses whichever comes first.
        if (!expected?.reason?.includes('system:')) expect(actual).toEqual(expected);
      }
    }
  });

  it.each<[string, string, object]>([
    ['an empty review', 'subjectaccessreviews', {}],
    ['neither user nor group', 'subjectaccessreviews', { spec: { resourceAttributes: { verb: 'get' } } }],
    [
      'resource and non-resource attributes together',
      'subjectaccessreviews',
      { spec: { user: 'x', resourceAttributes: {}, nonResourceAttributes: { path: '/<x>' } } },
    ],
    [
      'a given status',
      'subjectaccessreviews',
      { spec: { user: 'x', resourceAttributes: {} }, status: { allowed: true } },
    ],
    [
      'selectors',
      'subjectaccessreviews',
      {
        spec: {
          user: 'x',
          resourceAttributes: {
            fieldSelector: {
              rawSelector: 'a=b',
              requirements: [
                { key: '', operator: 'In' },
                { key: 'a', operator: 'Exists', values: ['b'] },
              ],
            },
            labelSelector: {},
          },
        },
      },
    ],
    [
      'label selectors',
      'subjectaccessreviews',
      {
        spec: {
          user: 'x',
          resourceAttributes: {
            labelSelector: {
              requirements: [
                { key: 'a b', operator: 'In', values: ['c'] },
                { key: '', operator: 'NotIn' },
              ],
            },
          },
        },
      },
    ],
    [
      'selectors that cannot be parsed',
      'subjectaccessreviews',
      {
        spec: {
          user: 'x',
          resourceAttributes: {
            fieldSelector: {
              requirements: [
                { key: 'a', operator: 'Exists' },
                { key: 'a', operator: 'In', values: ['c'] },
              ],
            },
            labelSelector: { rawSelector: 'a in (' },
          },
        },
      },
    ],
    ['an empty self review', 'selfsubjectaccessreviews', {}],
    ['a self review', 'selfsubjectaccessreviews', { spec: { resourceAttributes: { verb: 'get', resource: 'pods' } } }],
    [
      'another namespace',
      'namespaces/NS/localsubjectaccessreviews',
      { spec: { user: 'x', resourceAttributes: { namespace: 'other' } } },
    ],
    [
      'a path in a namespace',
      'namespaces/NS/localsubjectaccessreviews',
      { spec: { user: 'x', nonResourceAttributes: { verb: 'get' } } },
    ],
    [
      'a namespace',
      'namespaces/NS/localsubjectaccessreviews',
      {
        spec: { user: 'OWN:ann', resourceAttributes: { namespace: 'NS', verb: 'get', resource: 'secrets', name: 'a' } },
      },
    ],
    ['rules without a namespace', 'selfsubjectrulesreviews', {}],
  ])('for %s', async (_name, resource, body) => {
    const responses = await servers.both(ADMIN, 'POST', `${AUTHZ}/${resource}`, body);
    expect(essential(responses.ours)).toEqual(essential(responses.real));
  });

  it.each(['cat', 'ann', 'lost', 'maker'])('about all rules of %s', async (name) => {
    const { real: expected, ours: actual } = await servers.both(
      servers.userOf(name),
      'POST',
      `${AUTHZ}/selfsubjectrulesreviews`,
      {
        spec: { namespace: 'NS' },
      },
    );
    const sorted = ({ body }: GuardedResponse): object => {
      const status = body.status as Record<string, object[]>;
      const inOrder = (rules: readonly object[] = []): string[] =>
        rules.map((rule) => JSON.stringify(Object.entries(rule).sort())).sort();
      return {
        ...body,
        status: {
          ...status,
          resourceRules: inOrder(status.resourceRules),
          nonResourceRules: inOrder(status.nonResourceRules),
        },
      };
    };
    expect(sorted(actual)).toEqual(sorted(expected));
  });
});
