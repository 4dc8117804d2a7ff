import { describe, expect, it } from 'vitest';
import { ADMIN, type GuardedServer, startGuardedServer } from '../../authorization/guarded-server.test-support.ts';

const POLICIES = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies';
const BINDINGS = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings';
const MAPS = '/api/v1/namespaces/default/configmaps';
const MERGE = [['content-type', 'application/merge-patch+json']] as const;
const RULE = { operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] };
const SMALL = [{ expression: "!has(object.data) || object.data.size != 'large'", message: 'too large' }];
const LARGE = { metadata: { name: 'a' }, data: { size: 'large' } };

async function start(policy?: object, binding: object = {}): Promise<GuardedServer> {
  const t = startGuardedServer({ admits: true });
  await t.send(ADMIN, 'POST', '/api/v1/namespaces', { metadata: { name: 'default' } });
  if (policy) await apply(t, policy, binding);
  return t;
}

async function apply(t: GuardedServer, policy: object, binding: object = {}): Promise<void> {
  const spec = { matchConstraints: { resourceRules: [RULE] }, validations: SMALL, ...policy };
  const bound = { policyName: 'p', validationActions: ['Deny'], ...binding };
  const created = [
    await t.send(ADMIN, 'POST', POLICIES, { metadata: { name: 'p' }, spec }),
    await t.send(ADMIN, 'POST', BINDINGS, { metadata: { name: 'b' }, spec: bound }),
  ];
  expect(created.map(({ code, body }) => [code, body.message])).toEqual([
    [201, undefined],
    [201, undefined],
  ]);
}

describe('a policy', () => {
  it('denies from its creation to its deletion, and needs a binding', async () => {
    using t = await start({});
    const denied = await t.send(ADMIN, 'POST', MAPS, LARGE);
    expect(denied.body.message).toBe(
      `configmaps "a" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: too large`,
    );
    await t.send(ADMIN, 'DELETE', `${BINDINGS}/b`);
    expect((await t.send(ADMIN, 'POST', MAPS, LARGE)).code).toBe(201);
    expect((await t.send(ADMIN, 'PATCH', `${MAPS}/a`, { data: { more: '1' } }, MERGE)).code).toBe(200);
  });

  it('applies after mutation and to every kind of write', async () => {
    using t = await start({
      validations: [{ expression: "request.operation == 'CREATE'", messageExpression: 'request.operation' }],
    });
    expect((await t.send(ADMIN, 'POST', MAPS, { metadata: { name: 'a' } })).code).toBe(201);
    const put = await t.send(ADMIN, 'PUT', `${MAPS}/a`, { metadata: { name: 'a' }, data: { a: 'b' } });
    expect(put.body.message).toMatch(/denied request: UPDATE$/);
    const deleted = await t.send(ADMIN, 'DELETE', `${MAPS}/a`);
    expect(deleted.body.message).toMatch(/denied request: DELETE$/);
  });

  it('sees the Scale of a scale subresource, and the version of the rule', async () => {
    using t = await start({
      matchConstraints: { resourceRules: [{ ...RULE, apiGroups: ['apps'], resources: ['deployments/scale'] }] },
      validations: [
        { expression: 'object.spec.replicas < 3', messageExpression: "object.kind + ' ' + request.subResource" },
      ],
    });
    const labels = { app: 'a' };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'a', image: 'a' }] } };
    const deployments = '/apis/apps/v1/namespaces/default/deployments';
    const deployment = { metadata: { name: 'd' }, spec: { selector: { matchLabels: labels }, template } };
    expect((await t.send(ADMIN, 'POST', deployments, deployment)).code).toBe(201);
    const scaled = await t.send(ADMIN, 'PATCH', `${deployments}/d/scale`, { spec: { replicas: 3 } }, MERGE);
    expect(scaled.body.message).toMatch(/denied request: Scale scale$/);
  });

  it('does not apply to access reviews', async () => {
    using t = await start({
      matchConstraints: { resourceRules: [{ ...RULE, apiGroups: ['*'], apiVersions: ['*'], resources: ['*'] }] },
      validations: [{ expression: 'false' }],
    });
    const review = { spec: { user: 'a', resourceAttributes: { verb: 'get', resource: 'pods' } } };
    expect((await t.send(ADMIN, 'POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', review)).code).toBe(201);
    expect((await t.send(ADMIN, 'POST', MAPS, LARGE)).code).toBe(422);
  });

  it('writes failures and annotations to the audit log, and denies nothing unless its binding does', async () => {
    using t = await start(
      { auditAnnotations: [{ key: 'size', valueExpression: "'is ' + object.data.size" }] },
      { validationActions: ['Audit'] },
    );
    expect((await t.send(ADMIN, 'POST', MAPS, LARGE)).code).toBe(201);
    const annotations = t.audited.find(
      ({ verb, objectRef }) => verb === 'create' && objectRef?.name === 'a',
    )?.annotations;
    expect(annotations?.['p/size']).toBe('is large');
    expect(JSON.parse(annotations?.['validation.policy.admission.k8s.io/validation_failure'] ?? '')).toEqual([
      { message: 'too large', policy: 'p', binding: 'b', expressionIndex: 0, validationActions: ['Audit'] },
    ]);
  });

  it('ends an evaluation that takes too many steps', async () => {
    const letters = "['a','b','c','d','e','f','g','h','i','j']";
    const nested = `${letters}.all(a, ${letters}.all(b, ${letters}.all(c, ${letters}.all(d, ${letters}.all(e, ${letters}.all(f, a + b + c + d + e + f != 'x'))))))`;
    using t = await start({ validations: [{ expression: nested }] });
    const { body } = await t.send(ADMIN, 'POST', MAPS, LARGE);
    expect(body.message).toMatch(/resulted in error: operation cancelled: actual cost limit exceeded$/);
  });
});

describe('the status of a policy', () => {
  const statusOf = async (t: GuardedServer): Promise<unknown> => {
    // The status is written after the response.
    await new Promise(setImmediate);
    return (await t.send(ADMIN, 'GET', `${POLICIES}/p`)).body.status;
  };

  it('has the observed generation, and no warnings for correct expressions', async () => {
    using t = await start({});
    expect(await statusOf(t)).toEqual({ observedGeneration: 1, typeChecking: {} });
    await t.send(ADMIN, 'PATCH', `${POLICIES}/p`, { spec: { failurePolicy: 'Ignore' } }, MERGE);
    expect(await statusOf(t)).toEqual({ observedGeneration: 2, typeChecking: {} });
    await t.send(ADMIN, 'PATCH', `${POLICIES}/p`, { metadata: { labels: { a: 'b' } } }, MERGE);
    expect((await t.send(ADMIN, 'GET', `${POLICIES}/p`)).body.metadata?.generation).toBe(2);
  });

  it('warns about fields that a matched kind does not have', async () => {
    const resourceRules = [
      { ...RULE, apiGroups: ['apps'], resources: ['deployments', 'daemonsets'] },
      { ...RULE, apiGroups: ['*'] },
    ];
    using t = await start({
      matchConstraints: { resourceRules },
      validations: [
        { expression: 'object.spec.replicas < 5', messageExpression: 'string(object.spec.text)' },
        { expression: "object.metadata.name != 'x'" },
      ],
    });
    expect(await statusOf(t)).toEqual({
      observedGeneration: 1,
      typeChecking: {
        expressionWarnings: [
          {
            fieldRef: 'spec.validations[0].expression',
            warning:
              "apps/v1, Kind=DaemonSet: ERROR: <input>:1:12: undefined field 'replicas'\n | object.spec.replicas < 5\n | ...........^\n",
          },
          {
            fieldRef: 'spec.validations[0].messageExpression',
            warning: [
              "apps/v1, Kind=DaemonSet: ERROR: <input>:1:19: undefined field 'text'\n | string(object.spec.text)\n | ..................^\n",
              "apps/v1, Kind=Deployment: ERROR: <input>:1:19: undefined field 'text'\n | string(object.spec.text)\n | ..................^\n",
            ].join('\n'),
          },
        ],
      },
    });
  });
});

describe('parameters', () => {
  it('must be readable by the writer of a policy and of a binding', async () => {
    using t = await start();
    const rbac = '/apis/rbac.authorization.k8s.io/v1';
    const rules = [{ apiGroups: ['admissionregistration.k8s.io'], resources: ['*'], verbs: ['*'] }];
    await t.send(ADMIN, 'POST', `${rbac}/clusterroles`, { metadata: { name: 'policies' }, rules });
    await t.send(ADMIN, 'POST', `${rbac}/clusterrolebindings`, {
      metadata: { name: 'policies' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'policies' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'mary' }],
    });
    const mary = { user: 'mary' };
    const spec = {
      matchConstraints: { resourceRules: [RULE] },
      validations: SMALL,
      paramKind: { apiVersion: 'v1', kind: 'Secret' },
    };
    const policy = { metadata: { name: 'p' }, spec };
    expect((await t.send(mary, 'POST', POLICIES, policy)).body.message).toMatch(
      /spec.paramKind: Forbidden: user &\{mary .* must have "get" permission on all objects of the referenced paramKind/,
    );
    expect((await t.send(ADMIN, 'POST', POLICIES, policy)).code).toBe(201);
    const paramRef = { name: 'x', namespace: 'default', parameterNotFoundAction: 'Deny' };
    const binding = { metadata: { name: 'b' }, spec: { policyName: 'p', validationActions: ['Deny'], paramRef } };
    expect((await t.send(mary, 'POST', BINDINGS, binding)).body.message).toMatch(
      /spec.paramRef: Forbidden: user &\{mary .* does not have "get" permission on the object referenced by paramRef/,
    );
    expect((await t.send(ADMIN, 'POST', BINDINGS, binding)).code).toBe(201);
  });
});
