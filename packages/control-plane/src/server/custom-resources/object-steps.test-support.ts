type Json = Record<string, unknown>;

/** ObjectStep is a request for custom resources, and what it demonstrates. */
export interface ObjectStep {
  readonly what: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Relative to `/apis/GROUP/`; NS is the namespace. */
  readonly path: string;
  readonly body?: unknown;
  readonly type?: string;
  readonly accept?: string;
}

const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const TEXT = { type: 'string' };

/** GADGETS defines two versions of a kind with every validation that a schema supports. */
export const GADGETS = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'gadgets.GROUP' },
  spec: {
    group: 'GROUP',
    scope: 'Namespaced',
    names: { plural: 'gadgets', kind: 'Gadget', shortNames: ['gdg'], categories: ['things'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: {
          status: {},
          scale: {
            specReplicasPath: '.spec.replicas',
            statusReplicasPath: '.status.replicas',
            labelSelectorPath: '.status.selector',
          },
        },
        selectableFields: [{ jsonPath: '.spec.color' }],
        additionalPrinterColumns: [
          { name: 'Size', type: 'integer', jsonPath: '.spec.size', description: 'How large' },
          { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
          { name: 'First', type: 'string', jsonPath: '.spec.ports[0].name', priority: 1 },
          { name: 'Labels', type: 'string', jsonPath: '.metadata.labels' },
          { name: 'Tags', type: 'string', jsonPath: '.spec.tags' },
          { name: 'Wrong', type: 'integer', jsonPath: '.spec.color' },
          { name: 'At', type: 'date', jsonPath: '.spec.at' },
        ],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            required: ['spec'],
            properties: {
              spec: {
                type: 'object',
                properties: {
                  size: { type: 'integer', default: 3, minimum: 1, maximum: 10 },
                  big: { type: 'integer', format: 'int64' },
                  replicas: { type: 'integer' },
                  color: { ...TEXT, enum: ['red', 'green'] },
                  at: { ...TEXT, format: 'date-time' },
                  nick: { ...TEXT, nullable: true },
                  fixed: { ...TEXT, 'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'is fixed' }] },
                  name: { ...TEXT, maxLength: 5, pattern: '^[a-z]*$' },
                  tags: { type: 'array', items: TEXT, 'x-kubernetes-list-type': 'set', maxItems: 5 },
                  ports: {
                    type: 'array',
                    maxItems: 5,
                    'x-kubernetes-list-type': 'map',
                    'x-kubernetes-list-map-keys': ['name'],
                    items: {
                      type: 'object',
                      required: ['name'],
                      properties: {
                        name: TEXT,
                        port: { 'x-kubernetes-int-or-string': true },
                        protocol: { ...TEXT, default: 'TCP' },
                      },
                    },
                  },
                  free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
                  inner: {
                    type: 'object',
                    'x-kubernetes-embedded-resource': true,
                    'x-kubernetes-preserve-unknown-fields': true,
                  },
                  map: { type: 'object', additionalProperties: { type: 'integer' } },
                },
                'x-kubernetes-validations': [
                  { rule: '!has(self.replicas) || self.replicas <= self.size', message: 'more replicas than size' },
                ],
              },
              status: {
                type: 'object',
                properties: {
                  replicas: { type: 'integer' },
                  selector: TEXT,
                  conditions: {
                    type: 'array',
                    items: { type: 'object', properties: { type: TEXT, status: TEXT } },
                  },
                },
              },
            },
          },
        },
      },
      {
        name: 'v1beta1',
        served: true,
        storage: false,
        deprecated: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: { type: 'object', properties: { size: { type: 'integer' }, color: TEXT, old: TEXT } },
              status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
            },
          },
        },
      },
    ],
  },
};

const ALL = 'v1/namespaces/NS/gadgets';
const gadget = (name: string, spec: Json | null | undefined, more: Json = {}): Json => ({
  apiVersion: 'GROUP/v1',
  kind: 'Gadget',
  metadata: { name },
  spec,
  ...more,
});
const post = (what: string, body: unknown, query = ''): ObjectStep => ({
  what,
  method: 'POST',
  path: `${ALL}${query}`,
  body,
});
const patch = (what: string, name: string, body: unknown, type = 'application/merge-patch+json'): ObjectStep => ({
  what,
  method: 'PATCH',
  path: `${ALL}/${name}`,
  body,
  type,
});
const get = (what: string, path: string, accept?: string): ObjectStep => ({
  what,
  method: 'GET',
  path,
  ...(accept === undefined ? {} : { accept }),
});
const JSON_PATCH = 'application/json-patch+json';
const APPLY = 'application/apply-patch+yaml';

/** STEPS are sent in this order: later ones depend on what earlier ones created. */
export const STEPS: readonly ObjectStep[] = [
  post('fills in defaults and drops the status', gadget('a', {}, { status: { replicas: 3 } })),
  post(
    'drops unknown fields and warns',
    gadget('b', { size: 2, bogus: 1, ports: [{ name: 'x', port: 80, odd: true }] }, { extra: 1 }),
  ),
  post(
    'refuses unknown fields in strict validation',
    gadget('c', { bogus: 1 }, { extra: 1 }),
    '?fieldValidation=Strict',
  ),
  post(
    'does not warn about unknown fields if they are ignored',
    gadget('c', { bogus: 1 }),
    '?fieldValidation=Ignore&dryRun=All',
  ),
  post('refuses wrong types', gadget('c', { size: 'large', tags: {}, map: { a: 'b' }, color: 1 })),
  post('refuses values out of bounds', gadget('c', { size: 11, color: 'blue', name: 'Toolong', tags: ['a', 'a'] })),
  post('refuses an object that violates a rule', gadget('c', { size: 2, replicas: 3 })),
  post('refuses a missing spec', gadget('c', undefined)),
  post('refuses a null spec', gadget('c', null)),
  post('refuses duplicates in a list-map', gadget('c', { ports: [{ name: 'x' }, { name: 'x' }] })),
  post('refuses a port that is a boolean', gadget('c', { ports: [{ name: 'x', port: true }] })),
  post('refuses a bad time', gadget('c', { at: 'yesterday' })),
  post('refuses an embedded object without a kind', gadget('c', { inner: { a: 1 } })),
  post('refuses a bad name', gadget('C_', {})),
  post('refuses bad metadata', { ...gadget('c', {}), metadata: { name: 'c', labels: { 'a b': 'c d' } } }),
  post('refuses metadata of wrong types', { ...gadget('c', {}), metadata: { name: 'c', labels: { a: 1 } } }),
  post('warns of unknown metadata', { ...gadget('c', {}), metadata: { name: 'c', color: 'red' } }, '?dryRun=All'),
  post('refuses another kind', { ...gadget('c', {}), kind: 'Widget' }),
  post('refuses another version', { ...gadget('c', undefined), apiVersion: 'GROUP/v2' }),
  post('refuses negative replicas', gadget('c', { replicas: -1 })),
  post('keeps null where it is allowed', gadget('n', { nick: null, color: null, size: null })),
  post('sets replicas', gadget('r', { replicas: 1 })),
  post(
    'keeps fields without a schema',
    gadget('f', {
      free: { a: [1, { b: null }], 'x y': 'z' },
      inner: { apiVersion: 'v1', kind: 'X', metadata: { name: 'y' }, more: 1 },
    }),
  ),
  get('reads', `${ALL}/a`),
  get('returns not found', `${ALL}/none`),
  get('shows columns', ALL, TABLE),
  get('shows another version', 'v1beta1/namespaces/NS/gadgets/b'),
  get('lists another version', 'v1beta1/namespaces/NS/gadgets'),
  get('selects by field', `${ALL}?fieldSelector=spec.color%3Dred`),
  get('refuses other field selectors', `${ALL}?fieldSelector=spec.size%3D1`),
  patch('changes the generation', 'a', { spec: { size: 4 } }),
  patch('does not change the generation for labels', 'a', { metadata: { labels: { x: 'y' } } }),
  patch('does not write the status', 'a', { status: { replicas: 2 } }),
  patch('refuses a strategic patch', 'a', { spec: { size: 4 } }, 'application/strategic-merge-patch+json'),
  patch('removes a field and defaults it again', 'a', { spec: { size: null } }),
  patch('refuses an invalid result of a patch', 'a', { spec: { size: 99 } }),
  patch('sets an immutable field once', 'a', { spec: { fixed: 'x' } }),
  patch('refuses to change an immutable field', 'a', { spec: { fixed: 'y' } }),
  {
    what: 'writes the status',
    method: 'PATCH',
    path: `${ALL}/a/status`,
    body: {
      spec: { size: 9 },
      metadata: { labels: { no: 'no' } },
      status: { replicas: 2, selector: 'a=b', conditions: [{ type: 'Ready', status: 'True' }] },
    },
    type: 'application/merge-patch+json',
  },
  {
    what: 'refuses a wrong status',
    method: 'PATCH',
    path: `${ALL}/a/status`,
    body: { status: { replicas: 'two' } },
    type: 'application/merge-patch+json',
  },
  get('reads the status', `${ALL}/a/status`),
  {
    what: 'has no status in a version without the subresource',
    method: 'GET',
    path: 'v1beta1/namespaces/NS/gadgets/a/status',
  },
  get('shows the columns of one object', `${ALL}/a`, TABLE),
  { what: 'has no scale without replicas', method: 'GET', path: `${ALL}/n/scale` },
  {
    what: 'scales',
    method: 'PATCH',
    path: `${ALL}/r/scale`,
    body: { spec: { replicas: 2 } },
    type: 'application/merge-patch+json',
  },
  get('shows the scale', `${ALL}/r/scale`),
  get('has scaled the object', `${ALL}/r`),
  {
    what: 'refuses a scale below zero',
    method: 'PATCH',
    path: `${ALL}/r/scale`,
    body: { spec: { replicas: -2 } },
    type: 'application/merge-patch+json',
  },
  {
    what: 'refuses a scale that violates a rule',
    method: 'PATCH',
    path: `${ALL}/r/scale`,
    body: { spec: { replicas: 9 } },
    type: 'application/merge-patch+json',
  },
  { what: 'replaces only the given fields', method: 'PUT', path: `${ALL}/a`, body: gadget('a', { size: 5 }) },
  {
    what: 'applies',
    method: 'PATCH',
    path: `${ALL}/s?fieldManager=one`,
    body: gadget('s', { color: 'red', ports: [{ name: 'p', port: 1 }], tags: ['t'] }),
    type: APPLY,
  },
  {
    what: 'applies as another manager',
    method: 'PATCH',
    path: `${ALL}/s?fieldManager=two`,
    body: gadget('s', { ports: [{ name: 'q', port: '2' }], tags: ['u'] }),
    type: APPLY,
  },
  {
    what: 'refuses an apply in conflict',
    method: 'PATCH',
    path: `${ALL}/s?fieldManager=two`,
    body: gadget('s', { color: 'green' }),
    type: APPLY,
  },
  {
    what: 'refuses an apply of unknown fields',
    method: 'PATCH',
    path: `${ALL}/s?fieldManager=two`,
    body: gadget('s', { bogus: 1 }),
    type: APPLY,
  },
  {
    what: 'writes through another version',
    method: 'PATCH',
    path: 'v1beta1/namespaces/NS/gadgets/s',
    body: { spec: { size: 7 } },
    type: 'application/merge-patch+json',
  },
  get('has lost the fields that the other version does not define', `${ALL}/s`),
  patch('tests a value', 'a', [{ op: 'test', path: '/spec/size', value: 99 }], JSON_PATCH),
  { what: 'deletes', method: 'DELETE', path: `${ALL}/b` },
  { what: 'refuses to delete a missing object', method: 'DELETE', path: `${ALL}/b` },
  get('does not serve other versions', 'v2/namespaces/NS/gadgets'),
  get('does not serve other resources', 'v1/namespaces/NS/gizmos'),
  { what: 'deletes the rest', method: 'DELETE', path: ALL },
];
