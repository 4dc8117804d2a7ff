import { type Case, DRY, MERGE, type Step, table } from './compare-kinds.test-support.ts';

const POLICIES = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies';
const BINDINGS = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings';

const RULE = { operations: ['CREATE'], apiGroups: ['none.test'], apiVersions: ['v1'], resources: ['nothings'] };
const MATCH = { resourceRules: [RULE] };
const PASSES = [{ expression: 'true' }];

const tried = (path: string, spec: object): Step => ['POST', `${path}${DRY}`, { metadata: { name: 'OWN-n' }, spec }];
/** policy tries to create a policy that is valid but for the given fields. */
const policy = (spec: object = {}): Step => tried(POLICIES, { matchConstraints: MATCH, validations: PASSES, ...spec });
const binding = (spec: object = {}): Step =>
  tried(BINDINGS, { policyName: 'OWN-n', validationActions: ['Deny'], ...spec });
const matching = (match: object): Step => policy({ matchConstraints: { ...MATCH, ...match } });
const rule = (change: object): Step => matching({ resourceRules: [{ ...RULE, ...change }] });
const validations = (...list: object[]): Step => policy({ validations: list });
const variables = (...list: object[]): Step => policy({ variables: list });
const annotations = (...list: object[]): Step => policy({ auditAnnotations: list });
const paramKind = (apiVersion?: string, kind?: string): Step => policy({ paramKind: { apiVersion, kind } });
const paramRef = (ref: object): Step => binding({ paramRef: ref });

/** CASES covers ValidatingAdmissionPolicies and their bindings. */
export const CASES: readonly Case[] = [
  [
    'policies with defaults',
    policy(),
    policy({ failurePolicy: 'Ignore' }),
    matching({ matchPolicy: 'Exact', namespaceSelector: { matchLabels: { a: 'b' } } }),
    matching({ excludeResourceRules: [{ ...RULE, resourceNames: ['a', 'b'] }] }),
  ],
  [
    'policies without required fields',
    tried(POLICIES, {}),
    ['POST', `${POLICIES}${DRY}`, { metadata: { name: 'OWN-n' } }],
    policy({ validations: [] }),
    policy({ matchConstraints: {} }),
    policy({ matchConstraints: null }),
    policy({ failurePolicy: 'Maybe' }),
    ['POST', `${POLICIES}${DRY}`, { metadata: { name: 'Not_A_Name' }, spec: {} }],
  ],
  [
    'what policies match',
    matching({ matchPolicy: 'Fuzzy' }),
    matching({ namespaceSelector: { matchLabels: { 'a b': 'c' } } }),
    matching({ objectSelector: { matchExpressions: [{ key: 'a', operator: 'Near' }] } }),
    rule({ operations: [] }),
    rule({ operations: ['*', 'CREATE'] }),
    rule({ operations: ['READ'] }),
    rule({ apiGroups: [] }),
    rule({ apiVersions: [''] }),
    rule({ resources: ['*/*', 'pods'] }),
    rule({ scope: 'Nowhere' }),
    rule({ resourceNames: ['a/b', 'c', 'c'] }),
    matching({ excludeResourceRules: [{}] }),
  ],
  [
    'match conditions of policies',
    policy({ matchConditions: [{ name: 'a', expression: 'request.operation == "CREATE"' }] }),
    policy({ matchConditions: [{ name: 'a', expression: ' 1 ' }] }),
    policy({ matchConditions: [{ name: '', expression: '' }] }),
    policy({
      matchConditions: [
        { name: 'a', expression: 'true' },
        { name: 'a', expression: 'true' },
      ],
    }),
    policy({ matchConditions: [{ name: 'a', expression: 'params.x' }] }),
    policy({
      matchConditions: [{ name: 'a', expression: 'has(params.x)' }],
      paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
    }),
    policy({
      matchConditions: [{ name: 'a', expression: 'variables.x' }],
      variables: [{ name: 'x', expression: 'true' }],
    }),
  ],
  [
    'variables of policies',
    variables({ name: 'a', expression: '1' }, { name: 'b', expression: 'variables.a + 1' }),
    variables({ name: '', expression: '' }),
    variables({ name: '1a', expression: '1' }),
    variables({ name: 'in', expression: '1' }),
    variables({ name: 'a', expression: 'variables.b' }, { name: 'b', expression: '1' }),
    policy({
      variables: [{ name: 'a', expression: 'object.x + 1' }],
      validations: [{ expression: 'variables.a > 1' }],
    }),
    policy({ variables: [{ name: 'a', expression: '"x"' }], validations: [{ expression: 'variables.a' }] }),
  ],
  [
    'validations of policies',
    validations({ expression: 'object.spec.replicas < 5', message: 'too many', reason: 'Forbidden' }),
    validations({ expression: '' }),
    validations({ expression: 'object.spec' }),
    validations({ expression: '"text"' }),
    validations({ expression: '  1' }),
    validations({ expression: 'true', message: ' ' }),
    validations({ expression: 'true', message: 'a\nb' }),
    validations({ expression: 'true', messageExpression: ' ' }),
    validations({ expression: 'true', messageExpression: '"a" + "b"' }),
    validations({ expression: 'true', messageExpression: '1' }),
    validations({ expression: 'true', reason: 'Unknown' }),
    validations({ expression: 'true', reason: 'Unauthorized' }),
    validations({ expression: 'authorizer.group("").resource("pods").check("get").allowed()' }),
    validations({ expression: 'namespaceObject.metadata.labels["a"] == "b"' }),
    validations({ expression: 'oldObject == null || object.x == oldObject.x' }),
    validations({ expression: 'request.userInfo.extra["a"] == ["b"]' }),
  ],
  [
    'parameters of policies',
    paramKind('v1', 'ConfigMap'),
    paramKind(),
    paramKind('', ''),
    paramKind('a/b/c', 'Kind'),
    paramKind('A_/v1', 'Kind'),
    paramKind('a.b/', 'Kind'),
    paramKind('a.b/V1', 'ki nd'),
    policy({ validations: [{ expression: 'params.x' }] }),
    policy({ validations: [{ expression: 'params.x == 1' }], paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } }),
  ],
  [
    'audit annotations',
    annotations({ key: 'a', valueExpression: '"b"' }),
    annotations({ key: 'a', valueExpression: 'null' }),
    annotations({ key: 'a', valueExpression: 'true' }),
    annotations({ key: 'a', valueExpression: '' }),
    annotations({ key: 'a b', valueExpression: '"b"' }),
    annotations({ key: 'a', valueExpression: '"b"' }, { key: 'a', valueExpression: '"c"' }),
    policy({ validations: [], auditAnnotations: [{ key: 'a', valueExpression: '"b"' }] }),
    annotations(...Array.from({ length: 21 }, (_, index) => ({ key: `k${index}`, valueExpression: '"b"' }))),
    annotations({ key: 'a', valueExpression: `"${'b'.repeat(5_200)}"` }),
  ],
  [
    'bindings',
    binding(),
    tried(BINDINGS, {}),
    binding({ policyName: 'Not_A_Name' }),
    binding({ validationActions: ['Warn', 'Audit'] }),
    binding({ validationActions: ['Deny', 'Warn'] }),
    binding({ validationActions: ['Deny', 'Deny'] }),
    binding({ validationActions: ['Explode'] }),
    binding({ matchResources: {} }),
    binding({ matchResources: { resourceRules: [{ ...RULE, operations: [] }] } }),
    paramRef({ name: 'a', parameterNotFoundAction: 'Deny' }),
    paramRef({ selector: {}, parameterNotFoundAction: 'Allow' }),
    paramRef({}),
    paramRef({ name: 'a', selector: {}, parameterNotFoundAction: 'Deny' }),
    paramRef({ name: 'a/b', parameterNotFoundAction: 'Maybe' }),
    paramRef({ selector: { matchLabels: { 'a b': 'c' } } }),
  ],
  [
    'a policy and a binding in tables, and their changes',
    ['POST', POLICIES, { metadata: { name: 'OWN-p' }, spec: { matchConstraints: MATCH, validations: PASSES } }],
    [
      'POST',
      POLICIES,
      {
        metadata: { name: 'OWN-q' },
        spec: {
          matchConstraints: MATCH,
          paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
          validations: [...PASSES, { expression: 'params == null' }],
        },
      },
    ],
    table(`${POLICIES}/OWN-p`),
    table(`${POLICIES}/OWN-q`),
    ['POST', BINDINGS, { metadata: { name: 'OWN-b' }, spec: { policyName: 'OWN-none', validationActions: ['Audit'] } }],
    table(`${BINDINGS}/OWN-b`),
    [
      'PATCH',
      `${BINDINGS}/OWN-b`,
      { spec: { paramRef: { name: 'x', namespace: 'y', parameterNotFoundAction: 'Deny' } } },
      MERGE,
    ],
    table(`${BINDINGS}/OWN-b`),
    [
      'PATCH',
      `${BINDINGS}/OWN-b`,
      { spec: { paramRef: { name: null, selector: { matchLabels: { a: 'b', c: 'd' } } } } },
      MERGE,
    ],
    table(`${BINDINGS}/OWN-b`),
    ['PATCH', `${POLICIES}/OWN-p`, { spec: { validations: [] } }, MERGE],
    ['PUT', `${POLICIES}/OWN-absent`, { metadata: { name: 'OWN-absent' }, spec: {} }],
    ['DELETE', `${POLICIES}/OWN-p`],
    ['DELETE', `${POLICIES}/OWN-q`],
    ['DELETE', `${BINDINGS}/OWN-b`],
  ],
];
