import type { JsonPatchOperation } from '@bowline/machinery';
import type { Sequence } from './sequence.test-support.ts';

const everything = {
  name: 'n',
  port: 'http',
  free: { a: { b: 1 }, list: [1, { x: 1 }], empty: {}, none: null },
  any: { a: { b: [1] } },
  half: { a: 'a', deep: { b: 'b' }, other: { c: 1 } },
  embedded: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x', labels: { a: 'b' } }, data: { a: 'b' } },
  bag: { a: 'b' },
  bags: { x: { a: '1' }, y: {} },
  atomicMap: { a: '1' },
  plain: [{ a: '1' }],
  set: ['a', 'b'],
  numbers: [1, 2],
  map: [
    { k: 'a', v: '1', w: { x: '1' } },
    { k: 'a', l: 2, w: {} },
  ],
  nullable: null,
  deep: { a: { b: {} } },
};

const containers = (...list: object[]): object => ({ template: { spec: { containers: list } } });
const entry = (more: object): object => ({
  manager: 'x',
  operation: 'Update',
  apiVersion: 'v1',
  time: '2020-01-01T00:00:00Z',
  fieldsType: 'FieldsV1',
  fieldsV1: { 'f:data': { 'f:a': {} } },
  ...more,
});
const rewritten = (...entries: object[]): readonly JsonPatchOperation[] => [
  { op: 'replace', path: '/metadata/managedFields', value: entries },
  { op: 'add', path: '/data/z', value: 'z' },
];
/** The garbage collector ignores owners of an unknown kind. */
const owner = (name: string): object => ({ apiVersion: 'unknown.test/v1', kind: 'Unknown', name, uid: '1' });
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';
const lastApplied = (more: object): string =>
  JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'tracked-object' }, ...more });

/** SEQUENCES holds the writes whose outcome on the real server is recorded. */
export const SEQUENCES: readonly Sequence[] = [
  {
    name: 'updates by several managers',
    kind: 'ConfigMap',
    steps: [
      { as: 'a', create: { metadata: { labels: { x: '1' }, annotations: {}, finalizers: [] }, data: { k: 'v' } } },
      { as: 'a', put: {} },
      { as: 'a', put: { data: { k: 'w' } } },
      { as: 'b', put: { data: { k: 'z', n: '1' } } },
      { as: 'b', put: { data: { n: null } } },
      { as: 'b', merge: { data: { k: 'z' } } },
      { as: 'c', merge: { data: null } },
      { as: 'c', merge: { data: {} } },
      { as: 'c', merge: { binaryData: { b: 'YQ==' }, immutable: false, metadata: { labels: { x: null, y: '1' } } } },
      { as: 'a', merge: { metadata: { labels: null }, binaryData: null } },
    ],
  },
  {
    name: 'one manager, several operations',
    kind: 'ConfigMap',
    steps: [
      { as: 'a', apply: { data: { a: '1', b: '1' } } },
      { as: 'a', merge: { data: { a: '2', c: '1' } } },
      { as: 'a', apply: { data: { a: '1', b: '1' } } },
      { as: 'a', apply: { data: { a: '2', b: '1' } } },
      { as: 'a', apply: { data: { a: '3' } }, force: true },
      { as: 'a', merge: { data: { a: '3' } } },
      { as: 'a', merge: { data: { a: null } } },
    ],
  },
  {
    name: 'shared fields, conflicts and force',
    kind: 'ConfigMap',
    steps: [
      { as: 'a', apply: { metadata: { labels: { x: '1' } }, data: { a: '1', b: '1' } } },
      { as: 'b', apply: { data: { a: '1', c: '1' } } },
      { as: 'b', apply: { data: { a: '2', c: '1' } } },
      { as: 'b', apply: { metadata: { labels: { x: '2' } }, data: { a: '2', b: '2' } } },
      { as: 'b', apply: { data: { a: '2', b: '1' } }, force: true },
      { as: 'b', apply: { data: { a: '2', b: '1' } }, force: true },
      { as: 'a', apply: { data: { b: '1' } } },
      { as: 'c', apply: { data: { a: '2' } } },
      { as: 'd', merge: { data: { a: '4' } } },
      { as: 'c', apply: { data: { a: '5' } } },
      { as: 'b', apply: {} },
      { as: 'a', apply: {} },
      { as: 'c', apply: {} },
    ],
  },
  {
    name: 'conflicts with several managers',
    kind: 'ConfigMap',
    steps: [
      { as: 'c', create: { data: { a: '1', b: '1' } } },
      { as: 'b', apply: { data: { a: '1' } } },
      { as: 'a', apply: { data: { a: '1', b: '1' } } },
      { as: 'd', apply: { data: { b: '2' } } },
    ],
  },
  {
    name: 'an empty apply',
    kind: 'ConfigMap',
    steps: [
      { as: 'a', apply: { metadata: { labels: {}, finalizers: [] }, data: null } },
      { as: 'a', apply: { data: {} } },
      { as: 'a', apply: {}, bare: true },
      { as: 'a', apply: { metadata: { labels: { x: '1' } } } },
      { as: 'a', apply: { apiVersion: 'v1', kind: 'ConfigMap', data: { a: '1' } }, bare: true },
      { as: 'a', apply: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'tracked-object' } }, bare: true },
    ],
  },
  {
    name: 'an apply to an object without managedFields',
    kind: 'ConfigMap',
    steps: [
      { as: 'a', create: { metadata: { labels: { x: '1' }, managedFields: [] }, data: { a: '1' } } },
      { as: 'a', merge: { metadata: { managedFields: [] } } },
      { as: 'a', merge: { data: { b: '1' } } },
      { as: 'b', apply: { data: { a: '1' } } },
      { as: 'c', apply: { data: { a: '2' } } },
      { as: 'c', apply: { data: { a: '2' } }, force: true },
      { as: 'a', merge: { metadata: { managedFields: [{}] } } },
    ],
  },
  {
    name: 'rewritten managedFields',
    kind: 'ConfigMap',
    steps: [
      { as: 'a', create: { metadata: { managedFields: [entry({})] }, data: { a: '1' } } },
      { as: 'b', json: rewritten(entry({})) },
      { as: 'b', json: rewritten(entry({}), entry({ fieldsV1: { 'f:data': { 'f:z': {} } } })) },
      { as: 'b', json: rewritten(entry({ fieldsV1: { 'f:gone': { 'f:x': {} }, 'f:data': { 'i:0': {} } } })) },
      { as: 'b', json: rewritten(entry({ fieldsV1: { 'v:"x" ': {}, 'k:{"b": 1, "a":2}': {}, 'z:later': {} } })) },
      { as: 'b', json: rewritten(entry({ fieldsV1: { 'f:data': null } })) },
      { as: 'b', json: rewritten(entry({ manager: '', time: undefined })) },
      { as: 'b', json: rewritten(entry({ manager: 'old' }), entry({ operation: 'Apply', apiVersion: 'v0' })) },
      { as: 'b', json: rewritten(entry({ fieldsV1: undefined })) },
      { as: 'b', put: { data: { c: '1' } } },
    ],
  },
  {
    name: 'invalid managedFields',
    kind: 'ConfigMap',
    steps: [
      { as: 'a', create: { data: { a: '1' } } },
      { as: 'b', json: rewritten(entry({ operation: 'Replace' })) },
      { as: 'b', json: rewritten(entry({ apiVersion: '' })) },
      { as: 'b', json: rewritten(entry({ fieldsType: 'FieldsV2' })) },
      { as: 'b', json: rewritten(entry({ fieldsV1: { data: {} } })) },
      { as: 'b', json: rewritten(entry({ fieldsV1: { 'k:x': {} } })) },
      { as: 'b', json: rewritten(entry({ fieldsV1: { 'f:data': 1 } })) },
      { as: 'b', json: rewritten(entry({ fieldsV1: [] })) },
    ],
  },
  {
    name: 'too many managers',
    kind: 'ConfigMap',
    steps: [
      { as: 'first', apply: { data: { z: '1' } } },
      ...Array.from({ length: 13 }, (_, index) => ({ as: `u${index}`, merge: { data: { [`k${index}`]: '1' } } })),
      { as: 'first', apply: { data: { k0: '2', k12: '2' } } },
    ],
  },
  {
    name: 'from client-side apply',
    kind: 'ConfigMap',
    steps: [
      {
        as: 'kubectl-client-side-apply',
        create: {
          metadata: { annotations: { [LAST_APPLIED]: lastApplied({ data: { a: '1', b: '1', c: '1' } }) } },
          data: { a: '1', b: '1', c: '1' },
        },
      },
      { as: 'x', merge: { data: { c: '2' } } },
      { as: 'other', apply: { data: { a: '2' } } },
      { as: 'kubectl', apply: { data: { a: '2', c: '3' } } },
      { as: 'kubectl', apply: { data: { a: '2' } } },
      { as: 'kubectl', apply: { metadata: { annotations: { [LAST_APPLIED]: 'x', y: 'z' } }, data: { a: '3' } } },
      { as: 'kubectl', apply: { data: { a: '3' } } },
      {
        as: 'x',
        merge: { metadata: { annotations: { [LAST_APPLIED]: lastApplied({ data: { b: '1' }, bogus: 1 }) } } },
      },
      { as: 'kubectl', apply: { data: { b: '2' } } },
      { as: 'x', merge: { metadata: { annotations: { [LAST_APPLIED]: 'no JSON' } } } },
      { as: 'kubectl', apply: { data: { b: '2' } } },
    ],
  },
  {
    name: 'objects that cannot be applied',
    kind: 'ConfigMap',
    steps: [
      { as: 'a', apply: { bogus: 1 } },
      { as: 'a', apply: { data: 'x' } },
      { as: 'a', apply: { data: { a: 1 } } },
      { as: 'a', apply: { data: { a: { b: [1, 'x', null, true] } } } },
      { as: 'a', apply: { immutable: 1 } },
      { as: 'a', apply: { metadata: { labels: [] } } },
      { as: 'a', apply: { metadata: { finalizers: [{}] } } },
      { as: 'a', apply: { metadata: { finalizers: ['a/b', 'a/b'] } } },
      { as: 'a', apply: { metadata: { ownerReferences: [null] } } },
      { as: 'a', apply: { metadata: { ownerReferences: [1] } } },
      { as: 'a', apply: { metadata: { generation: 'x' } } },
    ],
  },
  {
    name: 'lists of metadata',
    kind: 'ConfigMap',
    steps: [
      {
        as: 'a',
        create: {
          metadata: {
            finalizers: ['test/a'],
            ownerReferences: [owner('x')],
          },
        },
      },
      { as: 'b', apply: { metadata: { finalizers: ['test/b'] } } },
      { as: 'c', merge: { metadata: { finalizers: ['test/c', 'test/b'] } } },
      {
        as: 'b',
        apply: { metadata: { ownerReferences: [owner('y')] } },
      },
      {
        as: 'b',
        apply: {
          metadata: { finalizers: ['test/d', 'test/c'], ownerReferences: [] },
        },
      },
      { as: 'c', merge: { metadata: { finalizers: null, ownerReferences: null } } },
    ],
  },
  {
    name: 'created lists of containers, ports and variables',
    kind: 'PodTemplate',
    steps: [
      {
        as: 'a',
        create: {
          template: {
            metadata: { labels: { a: 'b' } },
            spec: {
              containers: [
                {
                  name: 'c',
                  image: 'i',
                  args: ['a'],
                  ports: [{ containerPort: 80 }, { containerPort: 80, protocol: 'UDP' }],
                  env: [
                    { name: 'a<b&c', value: 'v' },
                    { name: 'd', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
                  ],
                  volumeMounts: [{ name: 'v', mountPath: '/v' }],
                  resources: { limits: { cpu: '1' } },
                },
              ],
              volumes: [{ name: 'v', emptyDir: {} }],
              tolerations: [{ key: 'a', operator: 'Exists' }],
              nodeSelector: { x: 'y' },
              imagePullSecrets: [{ name: 's' }],
            },
          },
        },
      },
      { as: 'b', merge: containers({ name: 'd', image: 'e' }) },
      { as: 'a', put: { template: { metadata: { labels: null } } } },
    ],
  },
  {
    name: 'applied lists of containers, ports and variables',
    kind: 'PodTemplate',
    steps: [
      {
        as: 'a',
        apply: containers(
          { name: 'a', image: 'i', ports: [{ containerPort: 80 }], env: [{ name: 'x', value: '1' }] },
          { name: 'b', image: 'i' },
        ),
      },
      { as: 'a', apply: containers({ name: 'b', image: 'i' }, { name: 'a', image: 'i' }) },
      {
        as: 'b',
        apply: containers(
          { name: 'z', image: 'z' },
          { name: 'a', ports: [{ containerPort: 80, protocol: 'UDP' }], env: [{ name: 'x', value: '2' }] },
        ),
      },
      { as: 'b', apply: containers({ name: 'a', image: 'j' }, { name: 'b', image: 'j' }) },
      { as: 'b', apply: containers({ name: 'a', image: 'j' }, { name: 'c', image: 'j' }), force: true },
      { as: 'a', apply: containers({ name: 'd', image: 'i' }, { name: 'b', image: 'i' }) },
      { as: 'b', apply: containers({ name: 'e', image: 'j', resources: { limits: { cpu: '1' } } }) },
      { as: 'a', apply: containers({ name: 'd', image: 'e' }, { name: 'd', image: 'x' }) },
      { as: 'a', apply: containers({ name: 'd', image: 'i', ports: [{ containerPort: 'x' }] }) },
      { as: 'a', apply: { template: { spec: { containers: [], tolerations: [{ key: 'x' }] } } } },
      { as: 'b', apply: { template: { spec: { tolerations: [] } } } },
    ],
  },
  {
    name: 'a service and its status',
    kind: 'Service',
    steps: [
      { as: 'a', create: { spec: { selector: { a: 'b' }, ports: [{ port: 80, name: 'x' }] } } },
      {
        as: 'b',
        apply: { spec: { ports: [{ port: 443, name: 'y' }], selector: { a: 'b' } } },
      },
      { as: 'b', apply: { spec: { ports: [{ port: 443, name: 'y' }], selector: { a: 'c' } } } },
      { as: 'b', apply: { spec: { ports: [{ port: 80, name: 'x', targetPort: 8080 }] } } },
      {
        as: 's',
        on: 'status',
        merge: { status: { loadBalancer: { ingress: [{ ip: '1.2.3.4' }] } }, spec: { type: 'x' } },
      },
      { as: 's', on: 'status', apply: { metadata: { labels: { l: '1' } }, status: { loadBalancer: {} } } },
      { as: 'b', apply: { status: { loadBalancer: { ingress: [{ ip: '1.2.3.5' }] } } } },
      { as: 'a', merge: { status: { loadBalancer: { ingress: [] } }, metadata: { labels: { m: '1' } } } },
    ],
  },
  {
    name: 'rules that are owned as a whole',
    kind: 'Role',
    steps: [
      { as: 'a', create: { rules: [] } },
      { as: 'a', put: { rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }] } },
      { as: 'b', apply: { rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['list'] }] } },
      { as: 'b', apply: { rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }] } },
      { as: 'a', put: { rules: [] } },
    ],
  },
  {
    name: 'values of every type, created',
    kind: 'Widget',
    steps: [
      { as: 'a', create: { spec: everything, top: 't', status: { phase: 'x' } } },
      { as: 'b', merge: { spec: { free: { a: { c: 2 }, list: [] }, any: 'text', half: { deep: { b: 'c' } } } } },
      {
        as: 'c',
        merge: { spec: { bag: { a: null, b: 'c' }, bags: { x: null, z: { a: '1' } }, port: 80, any: { x: 1 } } },
      },
      { as: 'd', merge: { spec: { set: ['b', 'c'], numbers: [2, 3], plain: [], atomicMap: { b: '1' } } } },
      {
        as: 'e',
        merge: {
          spec: {
            map: [
              { k: 'a', v: '2' },
              { k: 'b', w: { y: '1' } },
            ],
          },
        },
      },
      {
        as: 'f',
        merge: { spec: { nullable: { a: null }, deep: { a: { b: { c: '1' } } }, free: { none: 1, empty: null } } },
      },
      { as: 'g', put: { spec: null } },
    ],
  },
  {
    name: 'values of every type, applied',
    kind: 'Widget',
    steps: [
      { as: 'a', apply: { spec: everything, top: 't', status: { phase: 'x' } } },
      { as: 'a', apply: { spec: everything, top: 't' } },
      { as: 'b', apply: { spec: { free: { a: { c: 2 } }, half: { other: { d: 1 } }, bag: { b: 'c' }, size: 4 } } },
      { as: 'b', apply: { spec: { free: { a: 1 }, any: [], atomicMap: { b: '2' }, set: ['c'] } } },
      { as: 'b', apply: { spec: { any: {}, map: [{ k: 'b' }, { k: 'a', l: 2, v: '1' }], set: ['c', 'a'] } } },
      { as: 'b', apply: { spec: { any: { a: { b: [2] } }, plain: [{ a: '2' }] } }, force: true },
      { as: 'a', apply: { spec: { map: [{ k: 'a', l: 3 }], deep: { a: { b: { c: '1' } } } } } },
      { as: 'a', apply: {} },
      { as: 'b', apply: {} },
    ],
  },
  {
    name: 'elements that are added, removed and moved',
    kind: 'Widget',
    steps: [
      { as: 'a', apply: { spec: { map: [{ k: '1' }, { k: '2' }, { k: '3' }], set: ['a', 'b', 'c'] } } },
      { as: 'b', apply: { spec: { map: [{ k: '4' }, { k: '2' }, { k: '5' }], set: ['c', 'x', 'a'] } } },
      { as: 'a', apply: { spec: { map: [{ k: '3' }, { k: '1' }], set: ['b'] } } },
      { as: 'c', merge: { spec: { map: [{ k: '5' }, { k: '1' }, { k: '9' }], set: ['z', 'x'] } } },
      { as: 'b', apply: { spec: { map: [], set: [] } } },
      { as: 'a', apply: { spec: { map: [{ l: 2, v: 'without k' }] } } },
      { as: 'a', apply: { spec: { set: [1] } } },
      { as: 'a', apply: { spec: { bogus: 1 } } },
      { as: 'a', apply: { spec: { map: [1] } } },
      { as: 'a', apply: { spec: { set: { a: 'b' } } } },
      { as: 'a', apply: { spec: { size: 'x' } } },
    ],
  },
  {
    name: 'a custom resource, its status and its scale',
    kind: 'Widget',
    steps: [
      { as: 'a', apply: { spec: { replicas: 1, name: 'n' } } },
      {
        as: 's',
        on: 'status',
        merge: { status: { phase: 'a' }, spec: { name: 'm' }, metadata: { labels: { x: '1' } } },
      },
      {
        as: 't',
        on: 'status',
        apply: { status: { conditions: [{ type: 'A', status: 'True' }] }, spec: { name: 'x' } },
      },
      { as: 's', on: 'status', apply: { status: { conditions: [{ type: 'A', status: 'False' }] } } },
      { as: 'a', apply: { spec: { replicas: 1 }, status: { phase: 'b' } } },
      { as: 'b', merge: { status: { phase: 'c' }, spec: { name: 'o' } } },
      { as: 'sc', on: 'scale', merge: { spec: { replicas: 2 } } },
      { as: 'sc', on: 'scale', merge: { spec: { replicas: 2 } } },
      { as: 'a', apply: { spec: { replicas: 3 } } },
      { as: 's', on: 'status', json: [{ op: 'replace', path: '/metadata/managedFields', value: [] }] },
      { as: 's', on: 'status', merge: { status: null } },
    ],
  },
  {
    name: 'a custom resource without schema',
    kind: 'Free',
    steps: [
      { as: 'a', create: { spec: { a: { b: 1 }, list: [{ a: 1 }] }, status: { a: 1 } } },
      { as: 'b', apply: { spec: { a: { b: 1, c: 1 }, empty: {}, none: null, list: [{ a: 1 }], no: [] } } },
      { as: 'b', apply: { spec: { a: { b: 2 }, list: [] } } },
      { as: 'b', apply: { spec: { a: 'text', list: { x: 1 } } }, force: true },
      { as: 'c', merge: { spec: { a: { q: 1 }, list: 'text' } } },
      { as: 'c', merge: { spec: { a: {}, list: null, more: { x: { y: 1 } } } } },
      { as: 'c', put: { spec: { more: null, a: [1] } } },
      { as: 'b', apply: { status: { x: 1 } } },
      { as: 'b', apply: {} },
    ],
  },
  {
    name: 'two versions',
    kind: 'Free',
    steps: [
      { as: 'a', apply: { spec: { a: { b: 1 }, c: 1 } } },
      { as: 'b', of: 'FreeV2', merge: { spec: { a: { b: 2 }, d: 1 } } },
      { as: 'b', merge: { spec: { d: 2, e: 1 } } },
      { as: 'a', of: 'FreeV2', apply: { spec: { f: 1 } } },
      { as: 'a', apply: { spec: { a: { b: 7 }, d: 7 } } },
    ],
  },
];
