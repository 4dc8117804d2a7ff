/** Conditions that the API server accepts. */
export const ACCEPTED: readonly string[] = [
  'true',
  "has(object.data) && object.data.size() > 0 && object.?spec.color.orValue('') != 'red'",
  "request.userInfo.username == 'me' && !('system:masters' in request.userInfo.groups) && request.userInfo.uid != ''",
  "request.userInfo.extra['a'].exists(value, value.startsWith('b'))",
  "request.kind.kind == 'Ship' && request.resource.resource == 'ships' && request.requestKind.version == 'v1'",
  "request.operation == 'UPDATE' && oldObject.metadata.name == request.name && !request.dryRun",
  "request.namespace.matches('^team-') && request.subResource == '' && request.requestSubResource == ''",
  "request.options.fieldManager == 'kubectl'",
  "authorizer.group('').resource('pods').namespace('default').check('get').allowed()",
  "authorizer.requestResource.check('breakglass').allowed() || authorizer.serviceAccount('a', 'b').path('/x').check('get').reason() != ''",
  "!authorizer.group('apps').resource('deployments').subresource('scale').name('a').fieldSelector('a=b').labelSelector('c').check('get').errored()",
];

/** Conditions that the API server rejects, with our message. */
export const REFUSED: readonly (readonly [expression: string, text: string])[] = [
  [' ', 'its expression is empty'],
  ['1 + 1', '"1 + 1" is of type int, but must be a bool'],
  ['object.spec.paused', 'is of type dyn, but must be a bool; compare it, for example with == true'],
  ['has(object.data) &&', 'the expression "has(object.data) &&" is not valid'],
  ["request.uid == 'x'", "undefined field 'uid'; known fields are kind, resource"],
  ["request.object.kind == 'x'", "undefined field 'object'"],
  [
    "variables.x == 'x'",
    "undeclared reference to 'variables' (in container ''); known variables are object, oldObject, request",
  ],
  ['object.spec.frob()', 'unknown method frob'],
  ["authorizer.check('get').allowed()", "found no matching overload for 'check'"],
  ["authorizer.group('').resource('pods').check('get')", 'is of type decision, but must be a bool'],
  ['cel.bind(x, 1, x == 1)', 'cel.bind is not available in validation rules and match conditions'],
  ["object.metadata.name.matches('(?=a)')", 'is not a valid RE2 expression'],
];
