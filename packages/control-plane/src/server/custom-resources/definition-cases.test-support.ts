type Json = Record<string, unknown>;

/** Broken is a CustomResourceDefinition that is invalid in one way, or in several related ways. */
export interface Broken {
  readonly what: string;
  /** Merged into the spec. */
  readonly spec?: Json;
  /** Merged into the only version. */
  readonly version?: Json;
  /** Replaces the schema. */
  readonly schema?: Json;
  /** Replaces the schema of `spec`. */
  readonly field?: Json;
  readonly name?: string;
  readonly metadata?: Json;
}

const NAMES = { plural: 'brokens', kind: 'Broken' };
const TEXT = { type: 'string' };
const rules = (...list: Json[]): Json => ({
  type: 'object',
  properties: { a: TEXT },
  'x-kubernetes-validations': list,
});
const SHORT = { type: 'string', maxLength: 63 };
const ruleOf = (rule: string): Json => ({ 'x-kubernetes-validations': [{ rule }] });
const listOf = (items: Json, maxItems: number, rule: string): Json => ({
  type: 'array',
  items,
  maxItems,
  ...ruleOf(rule),
});
const second = { name: 'v2', served: true, storage: false, schema: { openAPIV3Schema: { type: 'object' } } };

/** definition returns the object that a case sends; `GROUP` is its group. */
export function definition({ spec, version, schema, field, name, metadata }: Broken): Json {
  const openAPIV3Schema = schema ?? {
    type: 'object',
    properties: {
      spec: field ?? { type: 'object', properties: { replicas: { type: 'integer' }, text: TEXT } },
      status: { type: 'object', properties: { replicas: { type: 'integer' }, selector: TEXT } },
    },
  };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: name ?? 'brokens.GROUP', ...metadata },
    spec: {
      group: 'GROUP',
      scope: 'Namespaced',
      names: NAMES,
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema }, ...version }],
      ...spec,
    },
  };
}

const versions = (...list: Json[]): Json => ({
  versions: list.map((each) => ({
    served: true,
    storage: false,
    schema: { openAPIV3Schema: { type: 'object' } },
    ...each,
  })),
});

/** BROKEN holds definitions that the server rejects, and some that only look invalid. */
export const BROKEN: readonly Broken[] = [
  { what: 'nothing wrong' },
  { what: 'another name', name: 'others.GROUP' },
  { what: 'no group', spec: { group: '' } },
  { what: 'a group without a dot', spec: { group: 'nodots' }, name: 'brokens.nodots' },
  { what: 'a group with capitals', spec: { group: 'A.b' }, name: 'brokens.A.b' },
  { what: 'no scope', spec: { scope: '' } },
  { what: 'an unknown scope', spec: { scope: 'Galaxy' } },
  { what: 'no names', spec: { names: {} } },
  { what: 'no plural', spec: { names: { kind: 'Broken' } } },
  {
    what: 'names with an invalid format',
    spec: { names: { plural: 'brokens', singular: 'A b', kind: 'b_c', listKind: 'x y' } },
  },
  { what: 'a list kind equal to the kind', spec: { names: { ...NAMES, listKind: 'Broken' } } },
  { what: 'bad short names', spec: { names: { ...NAMES, shortNames: ['A', 'b_c'], categories: ['all', 'X'] } } },
  { what: 'no versions', spec: { versions: [] } },
  { what: 'no storage version', version: { storage: false } },
  { what: 'two storage versions', spec: versions({ name: 'v1', storage: true }, { name: 'v2', storage: true }) },
  { what: 'a version twice', spec: versions({ name: 'v1', storage: true }, { name: 'v1' }) },
  { what: 'a version with a bad name', version: { name: 'V_1' } },
  { what: 'an empty version name', version: { name: '' } },
  { what: 'no schema', version: { schema: undefined } },
  { what: 'an empty schema', version: { schema: {} } },
  { what: 'a schema of another type than object', schema: { type: 'string' } },
  { what: 'a schema without a type', schema: { properties: { spec: { type: 'object' } } } },
  { what: 'preserveUnknownFields at the top level', spec: { preserveUnknownFields: true } },
  { what: 'an unknown conversion', spec: { conversion: { strategy: 'Magic' } } },
  { what: 'a webhook strategy without a webhook', spec: { conversion: { strategy: 'Webhook' } } },
  {
    what: 'a webhook with another strategy',
    spec: { conversion: { strategy: 'None', webhook: { conversionReviewVersions: ['v1'] } } },
  },
  { what: 'a deprecation warning without deprecation', version: { deprecationWarning: 'x' } },
  { what: 'an empty deprecation warning', version: { deprecated: true, deprecationWarning: '' } },
  { what: 'a protected group', spec: { group: 'x.k8s.io' }, name: 'brokens.x.k8s.io' },
  {
    what: 'a protected group with a bad approval',
    spec: { group: 'x.k8s.io' },
    name: 'brokens.x.k8s.io',
    metadata: { annotations: { 'api-approved.kubernetes.io': 'x' } },
  },
  // Columns, selectable fields, scale.
  { what: 'an empty column', version: { additionalPrinterColumns: [{ name: '', type: '', jsonPath: '' }] } },
  {
    what: 'a column of an unknown type and format',
    version: { additionalPrinterColumns: [{ name: 'A', type: 'text', format: 'x', jsonPath: 'spec.a' }] },
  },
  {
    what: 'a column with an invalid path',
    version: { additionalPrinterColumns: [{ name: 'A', type: 'string', jsonPath: '.spec[' }] },
  },
  { what: 'a selectable field that does not exist', version: { selectableFields: [{ jsonPath: '.spec.nope' }] } },
  { what: 'a selectable object', version: { selectableFields: [{ jsonPath: '.spec' }] } },
  { what: 'a selectable field of metadata', version: { selectableFields: [{ jsonPath: '.metadata.name' }] } },
  { what: 'a selectable path without a dot', version: { selectableFields: [{ jsonPath: 'spec.text' }] } },
  { what: 'a selectable path that is empty', version: { selectableFields: [{ jsonPath: '' }] } },
  { what: 'a selectable path with an index', version: { selectableFields: [{ jsonPath: '.spec.list[0]' }] } },
  {
    what: 'a selectable field twice',
    version: { selectableFields: [{ jsonPath: '.spec.text' }, { jsonPath: '.spec.text' }] },
  },
  {
    what: 'nine selectable fields',
    version: { selectableFields: Array.from({ length: 9 }, () => ({ jsonPath: '.spec.text' })) },
  },
  {
    what: 'a scale without paths',
    version: { subresources: { scale: { specReplicasPath: '', statusReplicasPath: '' } } },
  },
  {
    what: 'a scale with paths outside spec and status',
    version: {
      subresources: { scale: { specReplicasPath: '.a.b', statusReplicasPath: '.b.c', labelSelectorPath: '.c.d' } },
    },
  },
  {
    what: 'a scale without status',
    version: {
      subresources: { scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' } },
    },
  },
  {
    what: 'a scale with invalid paths',
    version: { subresources: { status: {}, scale: { specReplicasPath: '.spec.a[0]', statusReplicasPath: 'status' } } },
  },
  // Structure.
  { what: 'a field without a type', field: { type: 'object', properties: { a: {} } } },
  { what: 'an array without items', field: { type: 'array' } },
  { what: 'an unknown type', field: { type: 'text' } },
  { what: 'a null type', field: { type: 'null' } },
  {
    what: 'properties and additionalProperties',
    field: { type: 'object', properties: { a: TEXT }, additionalProperties: TEXT },
  },
  { what: 'additionalProperties false', field: { type: 'object', additionalProperties: false } },
  { what: 'unique items', field: { type: 'array', items: TEXT, uniqueItems: true } },
  { what: 'a reference', field: { type: 'object', $ref: '#/x' } },
  {
    what: 'definitions, dependencies, id and patternProperties',
    field: {
      type: 'object',
      definitions: { a: TEXT },
      dependencies: { a: ['b'] },
      id: 'x',
      patternProperties: { a: TEXT },
    },
  },
  { what: 'additional items', field: { type: 'array', items: TEXT, additionalItems: TEXT } },
  {
    what: 'int-or-string with a type',
    field: { type: 'object', properties: { a: { 'x-kubernetes-int-or-string': true, type: 'string' } } },
  },
  {
    what: 'int-or-string with anyOf',
    field: {
      type: 'object',
      properties: { a: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] } },
    },
  },
  {
    what: 'int-or-string that keeps unknown fields',
    field: {
      type: 'object',
      properties: { a: { 'x-kubernetes-int-or-string': true, 'x-kubernetes-preserve-unknown-fields': true } },
    },
  },
  {
    what: 'preserve-unknown-fields set to false',
    field: { type: 'object', 'x-kubernetes-preserve-unknown-fields': false },
  },
  {
    what: 'an embedded resource without fields',
    field: { type: 'object', properties: { a: { type: 'object', 'x-kubernetes-embedded-resource': true } } },
  },
  {
    what: 'an embedded resource of another type',
    field: { type: 'object', properties: { a: { type: 'string', 'x-kubernetes-embedded-resource': true } } },
  },
  {
    what: 'a type inside anyOf',
    field: {
      type: 'object',
      properties: { a: { ...TEXT, anyOf: [{ type: 'string', description: 'x', nullable: true, default: 'y' }] } },
    },
  },
  {
    what: 'a field of anyOf that does not exist',
    field: { type: 'object', properties: { a: TEXT }, anyOf: [{ properties: { b: { minLength: 1 } } }] },
  },
  {
    what: 'extensions inside not',
    field: {
      type: 'object',
      properties: { a: TEXT },
      not: { 'x-kubernetes-preserve-unknown-fields': true, properties: { a: { title: 't' } } },
    },
  },
  {
    what: 'restricted metadata',
    schema: {
      type: 'object',
      properties: { metadata: { type: 'object', properties: { labels: { type: 'object' } } } },
    },
  },
  {
    what: 'metadata with a name',
    schema: {
      type: 'object',
      properties: { metadata: { type: 'object', properties: { name: { type: 'string', maxLength: 3 } } } },
    },
  },
  {
    what: 'metadata of another type',
    schema: {
      type: 'object',
      properties: { metadata: { type: 'string' }, apiVersion: { type: 'integer' }, kind: { type: 'integer' } },
    },
  },
  { what: 'a nullable root', schema: { type: 'object', nullable: true } },
  { what: 'additional properties at the root', schema: { type: 'object', additionalProperties: TEXT } },
  // Lists.
  { what: 'a list type of another type', field: { type: 'object', 'x-kubernetes-list-type': 'set' } },
  { what: 'an unknown list type', field: { type: 'array', items: TEXT, 'x-kubernetes-list-type': 'bag' } },
  {
    what: 'a list-map without keys',
    field: { type: 'array', items: { type: 'object', properties: { a: TEXT } }, 'x-kubernetes-list-type': 'map' },
  },
  {
    what: 'a list-map of strings',
    field: { type: 'array', items: TEXT, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['a'] },
  },
  {
    what: 'invalid list-map keys',
    field: {
      type: 'array',
      items: { type: 'object', properties: { a: TEXT, o: { type: 'object' } }, required: ['o'] },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['a', 'b', 'o', 'o'],
    },
  },
  {
    what: 'list-map keys without a list-map',
    field: { type: 'array', items: TEXT, 'x-kubernetes-list-map-keys': ['a'] },
  },
  {
    what: 'a set of objects',
    field: { type: 'array', items: { type: 'object', properties: { a: TEXT } }, 'x-kubernetes-list-type': 'set' },
  },
  {
    what: 'a set of nullable strings',
    field: { type: 'array', items: { ...TEXT, nullable: true }, 'x-kubernetes-list-type': 'set' },
  },
  {
    what: 'a set of sets',
    field: {
      type: 'array',
      items: { type: 'array', items: TEXT, 'x-kubernetes-list-type': 'set' },
      'x-kubernetes-list-type': 'set',
    },
  },
  {
    what: 'a map type on a string',
    field: { type: 'object', properties: { a: { ...TEXT, 'x-kubernetes-map-type': 'atomic' } } },
  },
  { what: 'an unknown map type', field: { type: 'object', 'x-kubernetes-map-type': 'x' } },
  // Values.
  { what: 'a default of another type', field: { type: 'object', properties: { a: { ...TEXT, default: 1 } } } },
  {
    what: 'a default with unknown fields',
    field: { type: 'object', properties: { a: { type: 'object', default: { x: 1 } } } },
  },
  {
    what: 'a default out of bounds',
    field: { type: 'object', properties: { a: { type: 'integer', maximum: 3, default: 5 } } },
  },
  {
    what: 'a default for metadata',
    schema: { type: 'object', properties: { metadata: { type: 'object', default: {} } } },
  },
  { what: 'a null default', field: { type: 'object', properties: { a: { ...TEXT, default: null } } } },
  { what: 'an invalid pattern', field: { type: 'object', properties: { a: { ...TEXT, pattern: '(' } } } },
  { what: 'a pattern with a look-ahead', field: { type: 'object', properties: { a: { ...TEXT, pattern: '(?=a)' } } } },
  { what: 'an unknown format', field: { type: 'object', properties: { a: { ...TEXT, format: 'strange' } } } },
  {
    what: 'bounds that exclude each other',
    field: { type: 'object', properties: { a: { ...TEXT, minLength: 3, maxLength: 1 } } },
  },
  {
    what: 'negative bounds',
    field: { type: 'object', properties: { a: { ...TEXT, maxLength: -1 }, n: { type: 'number', multipleOf: 0 } } },
  },
  {
    what: 'a duplicate enum value',
    field: { type: 'object', properties: { a: { ...TEXT, enum: ['a', 'a'] } } },
  },
  { what: 'an empty enum', field: { type: 'object', properties: { a: { ...TEXT, enum: [] } } } },
  { what: 'a required field twice', field: { type: 'object', properties: { a: TEXT }, required: ['a', 'a', 'b'] } },
  // Rules.
  { what: 'an empty rule', field: rules({ rule: ' ' }) },
  { what: 'a rule that is not valid CEL', field: rules({ rule: 'self.a ==' }) },
  { what: 'a rule about a field that does not exist', field: rules({ rule: 'self.b == "x"' }) },
  { what: 'a rule that returns a string', field: rules({ rule: 'self.a' }) },
  { what: 'a rule that compares types', field: rules({ rule: 'self.a == 1' }) },
  { what: 'a blank message', field: rules({ rule: 'true', message: '  ' }) },
  { what: 'a message with a line break', field: rules({ rule: 'true', message: 'a\nb' }) },
  { what: 'a rule with a line break without a message', field: rules({ rule: 'true\n|| false' }) },
  { what: 'an unknown reason', field: rules({ rule: 'true', reason: 'Whim' }) },
  { what: 'a field path that does not exist', field: rules({ rule: 'true', fieldPath: '.nope' }) },
  { what: 'an invalid field path', field: rules({ rule: 'true', fieldPath: 'a[' }) },
  { what: 'a message expression that returns a number', field: rules({ rule: 'true', messageExpression: '1' }) },
  { what: 'a message expression that is not valid CEL', field: rules({ rule: 'true', messageExpression: '"a' }) },
  { what: 'an empty message expression', field: rules({ rule: 'true', messageExpression: ' ' }) },
  { what: 'optionalOldSelf without oldSelf', field: rules({ rule: 'true', optionalOldSelf: true }) },
  {
    what: 'oldSelf inside a list',
    field: { type: 'array', items: { ...TEXT, 'x-kubernetes-validations': [{ rule: 'self == oldSelf' }] } },
  },
  {
    what: 'a rule on a field without a schema',
    field: { 'x-kubernetes-preserve-unknown-fields': true, 'x-kubernetes-validations': [{ rule: 'true' }] },
  },
  {
    what: 'a rule in a branch',
    field: { type: 'object', properties: { a: TEXT }, allOf: [{ 'x-kubernetes-validations': [{ rule: 'true' }] }] },
  },
  {
    what: 'a rule that costs too much',
    field: {
      type: 'object',
      properties: { a: { type: 'array', items: { type: 'array', items: TEXT } } },
      'x-kubernetes-validations': [{ rule: 'self.a.all(x, self.a.all(y, x.all(z, y.exists(w, w == z))))' }],
    },
  },
  { what: 'a rule a little over its budget', field: rules({ rule: `self.a.matches("${'a'.repeat(130)}")` }) },
  { what: 'a rule far over its budget', field: listOf(TEXT, 100, 'self.all(x, x.matches("a+"))') },
  { what: 'a rule within its budget thanks to bounds', field: listOf(SHORT, 100, 'self.all(x, x.matches("a+"))') },
  {
    what: 'a cheap rule in a list without bounds',
    field: { type: 'array', items: rules({ rule: 'self.a.size() + self.a.size() > 1 && self.a.size() > 2' }) },
  },
  {
    what: 'a cheap rule in a map in a list',
    field: {
      type: 'array',
      maxItems: 3_000,
      items: {
        type: 'object',
        maxProperties: 1_000,
        additionalProperties: rules({ rule: 'self.a.size() > 1 && self.a.size() > 2' }, { rule: 'has(self.a)' }),
      },
    },
  },
  {
    what: 'a cheap rule in a map without bounds',
    field: { type: 'object', additionalProperties: { ...TEXT, ...ruleOf('self.matches("^a$")') } },
  },
  {
    what: 'a message expression that costs too much',
    field: rules({ rule: 'self.a != "b"', messageExpression: `self.a.find("${'a'.repeat(200)}")` }),
  },
  {
    what: 'an expensive rule whose message expression does not return a string',
    field: rules({ rule: `self.a.matches("${'a'.repeat(200)}")`, messageExpression: '1' }),
  },
  {
    what: 'rules that cost too much together',
    field: rules(
      ...Array.from({ length: 14 }, (_, index) => ({ rule: `self.a.matches("${'a'.repeat(92 + 2 * index)}")` })),
    ),
  },
  {
    what: 'an expensive rule about the name',
    schema: { type: 'object', ...ruleOf(`self.metadata.name.matches("${'a'.repeat(300)}")`) },
  },
  {
    what: 'a rule about a name that is bounded',
    schema: {
      type: 'object',
      properties: {
        kind: TEXT,
        apiVersion: TEXT,
        metadata: { type: 'object', properties: { name: SHORT, generateName: SHORT } },
      },
      ...ruleOf(`self.metadata.name.matches("${'a'.repeat(300)}")`),
    },
  },
  {
    what: 'two versions, one of them invalid',
    spec: {
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties: { spec: {} } } },
        },
        second,
      ],
    },
  },
];

/** OWN_MESSAGES holds the cases that are rejected alike, but with other messages about CEL than the real server's. */
export const OWN_MESSAGES: ReadonlySet<string> = new Set([
  'a rule that is not valid CEL',
  'a rule about a field that does not exist',
  'a rule that compares types',
  'a message expression that is not valid CEL',
  'oldSelf inside a list',
  'a rule on a field without a schema',
]);
