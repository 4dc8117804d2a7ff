import { WIDGETS } from '../../../support/sample-objects.ts';
import { type Case, get, MERGE, patch, post, TABLE } from '../step.ts';

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const NAMES = { plural: 'tries', singular: 'try', kind: 'Try', listKind: 'TryList' };

function definition(change: { readonly version?: object; readonly spec?: object; readonly name?: string }): object {
  const version = {
    name: 'v1',
    served: true,
    storage: true,
    schema: { openAPIV3Schema: { type: 'object' } },
    ...change.version,
  };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: change.name ?? 'tries.proof.bowline.dev' },
    spec: { group: 'proof.bowline.dev', scope: 'Namespaced', names: NAMES, versions: [version], ...change.spec },
  };
}

const schema = (spec: object): object => ({
  version: { schema: { openAPIV3Schema: { type: 'object', properties: { spec } } } },
});
const rule = (text: string, more: object = {}): object =>
  schema({
    type: 'object',
    properties: { a: { type: 'string', maxLength: 10 }, n: { type: 'integer' } },
    'x-kubernetes-validations': [{ rule: text, ...more }],
  });

const SCHEMAS: readonly object[] = [
  { type: 'nope' },
  {},
  { type: 'array' },
  { type: 'object', properties: { a: {} } },
  { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: { type: 'string' } },
  { type: 'object', additionalProperties: false },
  { type: 'string', pattern: '(' },
  { type: 'string', format: 'made-up' },
  { type: 'string', default: 5 },
  { type: 'integer', minimum: 5, default: 1 },
  { type: 'string', enum: [] },
  { type: 'string', enum: ['a', 'a'] },
  { type: 'array', items: { type: 'string' }, uniqueItems: true },
  { type: 'array', items: { type: 'object' }, 'x-kubernetes-list-type': 'map' },
  { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'nope' },
  { type: 'object', 'x-kubernetes-map-type': 'nope' },
  { type: 'object', required: ['missing'] },
  { anyOf: [{ type: 'string' }], type: 'string' },
  { type: 'object', properties: { metadata: { type: 'object' } }, 'x-kubernetes-embedded-resource': true },
  { type: 'object', $ref: '#/definitions/x' },
  { type: 'object', nullable: true, default: null },
];

/** definitions covers valid and invalid definitions of kinds. */
export const definitions: readonly Case[] = [
  { name: 'schemas', steps: SCHEMAS.map((each) => post(`${DEFINITIONS}?dryRun=All`, definition(schema(each)))) },
  {
    name: 'rules',
    steps: [
      rule("self.a == 'x'"),
      rule('self.a'),
      rule('self.nope == 1'),
      rule('self.a == 1'),
      rule('self.a =='),
      rule(''),
      rule('true', { message: 'a\nb' }),
      rule('true', { messageExpression: '1' }),
      rule('true', { messageExpression: "'made'" }),
      rule('true', { reason: 'Nope' }),
      rule('true', { fieldPath: '.nope' }),
      rule('true', { fieldPath: '.a', reason: 'FieldValueForbidden' }),
      rule('oldSelf == self'),
      rule('oldSelf.hasValue()', { optionalOldSelf: true }),
    ].map((each) => post(`${DEFINITIONS}?dryRun=All`, definition(each))),
  },
  {
    name: 'names, versions and the rest of definitions',
    steps: [
      {},
      { name: 'wrong.proof.bowline.dev' },
      { spec: { group: 'Not A Group' } },
      { spec: { group: 'nodots' } },
      { spec: { scope: 'Nope' } },
      { spec: { names: { plural: 'Tries', kind: 'try' } } },
      { spec: { names: { plural: 'tries', kind: 'Try', shortNames: ['A B'] } } },
      { spec: { versions: [] } },
      { version: { storage: false } },
      { version: { served: false } },
      { version: { name: 'V1' } },
      { version: { schema: undefined } },
      { version: { subresources: { scale: {} } } },
      { version: { subresources: { scale: { specReplicasPath: '.x', statusReplicasPath: 'y' } } } },
      { version: { additionalPrinterColumns: [{ name: 'A', type: 'nope', jsonPath: 'x' }] } },
      { version: { additionalPrinterColumns: [{ name: '', type: 'string', jsonPath: '.a[' }] } },
      { version: { selectableFields: [{ jsonPath: '.spec.nope' }] } },
      { version: { deprecationWarning: 'old' } },
      { version: { deprecated: true, deprecationWarning: '' } },
      { spec: { conversion: { strategy: 'Webhook' } } },
      { spec: { conversion: { strategy: 'Nope' } } },
      { spec: { preserveUnknownFields: true } },
    ].map((each) => post(`${DEFINITIONS}?dryRun=All`, definition(each))),
  },
  {
    name: 'the definition of widgets',
    steps: [
      get(`${DEFINITIONS}/widgets.proof.bowline.dev`, TABLE),
      post(DEFINITIONS, WIDGETS),
      patch(`${DEFINITIONS}/widgets.proof.bowline.dev?dryRun=All`, { spec: { group: 'other.example' } }, MERGE),
      patch(`${DEFINITIONS}/widgets.proof.bowline.dev?dryRun=All`, { spec: { scope: 'Cluster' } }, MERGE),
      patch(`${DEFINITIONS}/widgets.proof.bowline.dev?dryRun=All`, { spec: { versions: [] } }, MERGE),
      get('/apis/proof.bowline.dev/v1beta1/namespaces/NS/widgets'),
      get('/apis/proof.bowline.dev/v1/namespaces/NS/widgets', TABLE),
    ],
  },
];
