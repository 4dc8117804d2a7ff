import type { ServerDocument } from './normalise.ts';
import type { SchemaNode } from './open-api.ts';

const INFO = { title: 'Kubernetes', version: '1.35' };
const ref = (name: string): SchemaNode => ({ $ref: `#/components/schemas/${name}` });
const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';
const gvk = (group: string, kind: string) => ({ group, version: 'v1', kind });

const shared = {
  [`${META}.ObjectMeta`]: { type: 'object', properties: { name: { type: 'string' } } },
  [`${META}.Time`]: { description: 'Time is prose.', type: 'string', format: 'date-time' },
  'io.k8s.apimachinery.pkg.api.resource.Quantity': { oneOf: [{ type: 'string' }, { type: 'number' }] },
  'io.k8s.apimachinery.pkg.util.intstr.IntOrString': {
    format: 'int-or-string',
    oneOf: [{ type: 'integer' }, { type: 'string' }],
  },
  'io.k8s.apimachinery.pkg.runtime.RawExtension': { type: 'object' },
} as const satisfies Record<string, SchemaNode & { description?: string }>;

const coreEvent: SchemaNode = {
  type: 'object',
  required: ['metadata'],
  properties: { metadata: { default: {}, allOf: [ref(`${META}.ObjectMeta`)] }, reason: { type: 'string' } },
  'x-kubernetes-group-version-kind': [gvk('', 'Event')],
};

const knot: SchemaNode = {
  type: 'object',
  required: ['lines'],
  properties: {
    description: { type: 'string' },
    lines: {
      type: 'array',
      items: { default: {}, allOf: [ref('io.k8s.api.core.v1.Line')] },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name', 'side'],
      'x-kubernetes-patch-merge-key': 'name',
      'x-kubernetes-patch-strategy': 'merge,retainKeys',
    },
    tiedAt: ref(`${META}.Time`),
    load: ref('io.k8s.apimachinery.pkg.api.resource.Quantity'),
    slack: ref('io.k8s.apimachinery.pkg.util.intstr.IntOrString'),
    anything: ref('io.k8s.apimachinery.pkg.runtime.RawExtension'),
    marks: { type: 'object', additionalProperties: { type: 'string', default: '' } },
    sides: { type: 'array', items: { type: 'string', enum: ['port', 'starboard'] }, 'x-kubernetes-list-type': 'set' },
    'x-odd': { type: 'integer', format: 'int32' },
  },
  'x-kubernetes-group-version-kind': [gvk('', 'Knot')],
};

const line: SchemaNode = {
  type: 'object',
  required: ['name'],
  properties: {
    name: { type: 'string', default: '' },
    side: { type: 'string', enum: ['port', 'starboard'], default: 'port' },
  },
  'x-kubernetes-map-type': 'atomic',
};

const operation = (action: string, group: string, kind: string) => ({
  description: 'prose',
  operationId: 'id',
  parameters: [],
  'x-kubernetes-action': action,
  'x-kubernetes-group-version-kind': gvk(group, kind),
});

/**
 * syntheticServer returns a small set of documents with every case that the generator distinguishes, as a server would
 * return them.
 */
export function syntheticServer(): Map<string, ServerDocument> {
  return new Map([
    [
      'core-v1',
      {
        info: INFO,
        paths: {
          '/api/v1/': { get: { description: 'discovery' } },
          '/api/v1/events': { get: operation('list', '', 'Event') },
          '/api/v1/namespaces/{namespace}/events': { get: operation('list', '', 'Event'), parameters: [] },
          '/api/v1/namespaces/{namespace}/events/{name}': { get: operation('get', '', 'Event') },
          '/api/v1/knots': { get: operation('list', '', 'Knot'), post: operation('post', '', 'Knot') },
          '/api/v1/knots/{name}': { get: operation('get', '', 'Knot') },
          '/api/v1/knots/{name}/status': { get: operation('get', '', 'Knot') },
          '/api/v1/watch/knots': { get: operation('watchlist', '', 'Knot') },
        },
        components: {
          schemas: {
            ...shared,
            'io.k8s.api.core.v1.Knot': knot,
            'io.k8s.api.core.v1.Line': line,
            'io.k8s.api.core.v1.Event': coreEvent,
          },
        },
      },
    ],
    [
      'events-v1',
      {
        info: INFO,
        paths: {
          '/apis/events.k8s.io/v1/namespaces/{namespace}/events': { get: operation('list', 'events.k8s.io', 'Event') },
        },
        components: {
          schemas: {
            ...shared,
            'io.k8s.api.core.v1.Event': coreEvent,
            'io.k8s.api.core.v1.Line': line,
            'io.k8s.api.events.v1.Event': {
              type: 'object',
              properties: { before: ref('io.k8s.api.core.v1.Event'), line: ref('io.k8s.api.core.v1.Line') },
              'x-kubernetes-group-version-kind': [gvk('events.k8s.io', 'Event')],
            },
          },
        },
      },
    ],
  ]);
}
