/** PolicyCase is a policy with its bindings, and writes of ConfigMaps on which both servers must decide the same. */
export interface PolicyCase {
  readonly sentence: string;
  /** The spec of the policy. Its match constraints default to ConfigMaps. */
  readonly policy: object;
  /** The specs of the bindings, each for the namespace of the test only. Default to one that denies. */
  readonly bindings?: readonly object[];
  /** ConfigMaps that exist before, with the label `param`, which no policy of the cases denies. */
  readonly params?: readonly { readonly name: string; readonly data: Readonly<Record<string, string>> }[];
  /** ConfigMaps to create, by data; the first one must be denied or have a warning, which shows that the policy is in force. */
  readonly creates: readonly Readonly<Record<string, string>>[];
}

export const RULE = {
  operations: ['CREATE', 'UPDATE'],
  apiGroups: [''],
  apiVersions: ['v1'],
  resources: ['configmaps'],
};
const CONFIG_MAP = { apiVersion: 'v1', kind: 'ConfigMap' };
const SIZE = { expression: 'int(object.data.size) <= 3' };
const validate = (...validations: object[]): object => ({ validations });

/** CASES covers what a policy can express. */
export const CASES: readonly PolicyCase[] = [
  { sentence: 'an expression as message', policy: validate(SIZE), creates: [{ size: '4' }, { size: '3' }] },
  {
    sentence: 'a message and a reason',
    policy: validate({ ...SIZE, message: ' too large ', reason: 'Forbidden' }),
    creates: [{ size: '4' }],
  },
  {
    sentence: 'a reason that the object is too large',
    policy: validate({ ...SIZE, reason: 'RequestEntityTooLarge' }),
    creates: [{ size: '4' }],
  },
  {
    sentence: 'a message expression',
    policy: validate({ ...SIZE, message: 'unused', messageExpression: "'size ' + object.data.size + ' is too large'" }),
    creates: [{ size: '4' }],
  },
  {
    sentence: 'a message expression that fails, is empty or has lines',
    policy: validate({
      ...SIZE,
      message: 'the fallback',
      messageExpression: "object.data.size == '4' ? string(object.data.none) : object.data.size == '5' ? ' ' : 'a\\nb'",
    }),
    creates: [{ size: '4' }, { size: '5' }, { size: '6' }],
  },
  {
    sentence: 'several validations, of which the first that fails is reported',
    policy: validate(SIZE, { expression: "object.data.size != '5'", message: 'not five' }),
    creates: [{ size: '5' }],
  },
  { sentence: 'an expression that fails', policy: validate(SIZE), creates: [{ other: '1' }, { size: 'x' }] },
  {
    sentence: 'an expression that fails, with the failure policy Ignore',
    policy: { ...validate(SIZE), failurePolicy: 'Ignore' },
    creates: [{ size: '4' }, { other: '1' }],
  },
  {
    sentence: 'variables',
    policy: {
      variables: [
        { name: 'size', expression: 'int(object.data.size)' },
        { name: 'half', expression: 'variables.size / 2' },
      ],
      ...validate({ expression: 'variables.half < 2', messageExpression: "'half is ' + string(variables.half)" }),
    },
    creates: [{ size: '4' }, { size: '3' }, { other: '1' }],
  },
  {
    sentence: 'match conditions',
    policy: {
      matchConditions: [{ name: 'sized', expression: "'size' in object.data" }],
      ...validate(SIZE),
    },
    creates: [{ size: '4' }, { other: '1' }],
  },
  {
    sentence: 'a match condition that fails',
    policy: {
      matchConditions: [
        { name: 'a', expression: "object.data.a == '1'" },
        { name: 'b', expression: "object.data.b == '1'" },
      ],
      ...validate({ expression: 'false' }),
    },
    creates: [{ a: '1' }, {}, { a: '2' }],
  },
  {
    sentence: 'a match condition that fails, with the failure policy Ignore',
    policy: {
      matchConditions: [{ name: 'a', expression: "object.data.a == '1'" }],
      ...validate({ expression: 'false' }),
      failurePolicy: 'Ignore',
    },
    creates: [{ a: '1' }, {}],
  },
  {
    sentence: 'a parameter by name',
    policy: { paramKind: CONFIG_MAP, ...validate({ expression: 'int(object.data.size) <= int(params.data.max)' }) },
    bindings: [{ paramRef: { name: 'limit', namespace: 'NS', parameterNotFoundAction: 'Deny' } }],
    params: [{ name: 'limit', data: { max: '2' } }],
    creates: [{ size: '3' }, { size: '2' }],
  },
  {
    sentence: 'parameters by selector, from the namespace of the object',
    policy: { paramKind: CONFIG_MAP, ...validate({ expression: 'int(object.data.size) <= int(params.data.max)' }) },
    bindings: [{ paramRef: { selector: { matchLabels: { param: 'yes' } }, parameterNotFoundAction: 'Deny' } }],
    params: [
      { name: 'limit', data: { max: '9' } },
      { name: 'other', data: { max: '2' } },
    ],
    creates: [{ size: '3' }, { size: '2' }],
  },
  {
    sentence: 'a parameter that is missing',
    policy: { paramKind: CONFIG_MAP, ...validate({ expression: 'false' }) },
    bindings: [{ paramRef: { name: 'none', parameterNotFoundAction: 'Deny' } }],
    creates: [{ size: '3' }],
  },
  {
    sentence: 'a parameter that may be missing, and one that exists',
    policy: { paramKind: CONFIG_MAP, ...validate({ expression: "params.data.max != '1'" }) },
    bindings: [
      { paramRef: { name: 'none', parameterNotFoundAction: 'Allow' } },
      { paramRef: { name: 'limit', parameterNotFoundAction: 'Allow' } },
    ],
    params: [{ name: 'limit', data: { max: '1' } }],
    creates: [{ size: '3' }],
  },
  {
    sentence: 'a binding without the parameter of its policy',
    policy: { paramKind: CONFIG_MAP, ...validate({ expression: 'params != null' }) },
    creates: [{ size: '3' }],
  },
  {
    sentence: 'a parameter of a kind that does not exist',
    policy: { paramKind: { apiVersion: 'none.test/v1', kind: 'Nothing' }, ...validate({ expression: 'false' }) },
    bindings: [{ paramRef: { name: 'none', parameterNotFoundAction: 'Deny' } }],
    creates: [{ size: '3' }],
  },
  {
    sentence: 'the namespace of the object',
    policy: validate({
      expression: "namespaceObject.metadata.name == 'NS' && namespaceObject.status.phase != 'Active'",
      messageExpression: "'in ' + namespaceObject.metadata.name + ' ' + namespaceObject.status.phase",
    }),
    creates: [{}],
  },
  {
    sentence: 'the request',
    policy: validate({
      expression: "request.operation == 'UPDATE'",
      messageExpression:
        "[request.operation, request.namespace, request.kind.kind, request.resource.resource, request.userInfo.username == '' ? 'nobody' : 'somebody', string(request.dryRun), string(has(request.subResource))].join(' ')",
    }),
    creates: [{}],
  },
  {
    sentence: 'permissions of the user',
    policy: validate(
      {
        expression: "authorizer.group('').resource('configmaps').namespace('NS').check('get').allowed()",
        message: 'the administrator may',
      },
      {
        expression:
          "authorizer.serviceAccount('NS', 'none').group('').resource('secrets').namespace('NS').check('get').allowed()",
        message: 'an account may not',
      },
    ),
    creates: [{}],
  },
  {
    sentence: 'more permission checks than the limit allows',
    policy: validate({
      expression:
        "[1, 2, 3].all(i, authorizer.group('').resource('configmaps').namespace('NS').check('get').allowed())",
    }),
    creates: [{}],
  },
  {
    sentence: 'rules for names, and excluded names',
    policy: {
      matchConstraints: {
        resourceRules: [{ ...RULE, resourceNames: ['OWN-0', 'OWN-1'] }],
        excludeResourceRules: [{ ...RULE, resourceNames: ['OWN-1'] }],
      },
      ...validate({ expression: 'false' }),
    },
    creates: [{}, {}, {}],
  },
  {
    sentence: 'a binding that matches other resources only, and one that matches',
    policy: validate({ expression: 'false', message: 'no' }),
    bindings: [
      { matchResources: { resourceRules: [{ ...RULE, resources: ['secrets'] }] } },
      { matchResources: { resourceRules: [RULE] } },
    ],
    creates: [{}],
  },
  {
    sentence: 'an audit annotation that fails',
    policy: { auditAnnotations: [{ key: 'a', valueExpression: 'string(object.data.none)' }] },
    creates: [{}, { none: 'x' }],
  },
];

/** WARNINGS covers bindings that deny nothing. */
export const WARNINGS: readonly PolicyCase[] = [
  {
    sentence: 'warnings instead of a denial',
    policy: validate({ ...SIZE, message: 'too large' }, { expression: "object.data.size != '5'" }),
    bindings: [{ validationActions: ['Warn', 'Audit'] }],
    creates: [{ size: '5' }, { size: '3' }, { other: '1' }],
  },
  {
    sentence: 'a binding that warns and one that denies',
    policy: validate(SIZE),
    bindings: [{ validationActions: ['Warn'] }, { validationActions: ['Deny'] }],
    creates: [{ size: '5' }],
  },
  {
    sentence: 'two bindings of the same warning',
    policy: validate(SIZE),
    bindings: [{ validationActions: ['Warn'] }, { validationActions: ['Warn'] }],
    creates: [{ size: '5' }],
  },
];
