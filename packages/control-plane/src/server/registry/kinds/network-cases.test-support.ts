import { type Case, DRY, MERGE, type Step, table } from './compare-kinds.test-support.ts';

const ENDPOINTS = '/api/v1/namespaces/NS/endpoints';
const SLICES = '/apis/discovery.k8s.io/v1/namespaces/NS/endpointslices';
const NETWORKING = '/apis/networking.k8s.io/v1';
const INGRESSES = `${NETWORKING}/namespaces/NS/ingresses`;
const POLICIES = `${NETWORKING}/namespaces/NS/networkpolicies`;
const CLASSES = `${NETWORKING}/ingressclasses`;

const tried = (path: string, object: object): Step => ['POST', `${path}${DRY}`, { metadata: { name: 'n' }, ...object }];
const ingress = (spec: object, metadata: object = {}): Step =>
  tried(INGRESSES, { metadata: { name: 'n', ...metadata }, spec });
const BACKEND = { service: { name: 's', port: { number: 80 } } };
const rule = (path: object, host?: string): object => ({ rules: [{ host, http: { paths: [path] } }] });
const policy = (spec: object): Step => tried(POLICIES, { spec });

/** CASES covers kinds that control network traffic. */
export const CASES: readonly Case[] = [
  [
    'endpoints',
    tried(ENDPOINTS, {}),
    tried(ENDPOINTS, { subsets: [{ addresses: [{ ip: '1.2.3.4' }], ports: [{ port: 80 }] }] }),
    tried(ENDPOINTS, {
      subsets: [{ addresses: [{ ip: 'x' }, { ip: '127.0.0.1' }], ports: [{ port: 0, protocol: 'x' }] }],
    }),
    tried(ENDPOINTS, {
      subsets: [
        {
          addresses: [{ ip: '1.2.3.4', hostname: 'A_B', nodeName: 'x y' }],
          ports: [{ port: 1 }, { port: 2, name: 'A_' }],
        },
      ],
    }),
    tried(ENDPOINTS, { subsets: [{ ports: [{ port: 80, appProtocol: 'a b' }] }] }),
    [
      'POST',
      ENDPOINTS,
      {
        metadata: { name: 'e', labels: { own: 'e' } },
        subsets: [
          {
            addresses: [{ ip: '1.2.3.4' }, { ip: '1.2.3.5' }],
            notReadyAddresses: [{ ip: '9.9.9.9' }],
            ports: [
              { port: 80, name: 'a' },
              { port: 81, name: 'b' },
            ],
          },
        ],
      },
    ],
    ['POST', ENDPOINTS, { metadata: { name: 'f', labels: { own: 'f' } } }],
    // Controllers of the real server create some too.
    table(`${ENDPOINTS}?labelSelector=own`),
  ],
  [
    'endpoint slices',
    tried(SLICES, { addressType: 'IPv4', endpoints: [] }),
    tried(SLICES, { addressType: 'IPv4' }),
    tried(SLICES, {}),
    tried(SLICES, { addressType: 'Nope', endpoints: [] }),
    tried(SLICES, {
      addressType: 'IPv4',
      endpoints: [{ addresses: ['1.2.3.4'], conditions: { ready: true } }],
      ports: [{ port: 80 }, { name: 'b', port: 0, protocol: 'x' }],
    }),
    tried(SLICES, {
      addressType: 'IPv4',
      endpoints: [{ addresses: [] }, { addresses: ['fd00::1', 'x'] }, { addresses: ['127.0.0.1'], hostname: 'A_B' }],
      ports: [{ name: 'A_B', appProtocol: 'a b' }, { name: 'a' }, { name: 'a' }],
    }),
    tried(SLICES, { addressType: 'FQDN', endpoints: [{ addresses: ['A_B', 'a.b'] }] }),
    tried(SLICES, { addressType: 'IPv6', endpoints: [{ addresses: ['1.2.3.4'] }] }),
    [
      'POST',
      SLICES,
      {
        metadata: { name: 's' },
        addressType: 'IPv4',
        endpoints: [{ addresses: ['1.2.3.4'] }, { addresses: ['1.2.3.5'] }],
        ports: [{ port: 80 }],
      },
    ],
    ['PATCH', `${SLICES}/s`, { addressType: 'IPv6' }, MERGE],
    ['PATCH', `${SLICES}/s`, { endpoints: [{ addresses: ['1.2.3.6'] }] }, MERGE],
    ['PATCH', `${SLICES}/s`, { metadata: { labels: { a: 'b' } } }, MERGE],
    ['PUT', `${SLICES}/s`, { metadata: { name: 's' }, addressType: 'IPv4', endpoints: [] }],
    table(`${SLICES}?fieldSelector=metadata.name=s`),
  ],
  [
    'an ingress',
    ingress({ defaultBackend: BACKEND }),
    ingress(rule({ path: '/', pathType: 'Prefix', backend: BACKEND }, 'a.b')),
    ingress({}),
    tried(INGRESSES, {}),
    ingress(rule({ path: '/', backend: BACKEND })),
    ingress(rule({ path: 'x', pathType: 'Prefix', backend: BACKEND })),
    ingress(rule({ path: '', pathType: 'Exact', backend: BACKEND })),
    ingress(rule({ path: '//a/../b', pathType: 'Prefix', backend: {} })),
    ingress(rule({ path: '/a', pathType: 'Nope', backend: { service: { name: 'A_B' } } })),
    ingress(
      rule({ path: '/a', pathType: 'Prefix', backend: { service: { name: 's', port: { name: 'a', number: 80 } } } }),
    ),
    ingress(rule({ path: '/a', pathType: 'Prefix', backend: { service: { name: 's', port: { number: 70000 } } } })),
    ingress(rule({ path: '/a', pathType: 'Prefix', backend: { service: { name: 's', port: { name: 'A_B' } } } })),
    ingress(
      rule({
        path: '/a',
        pathType: 'Prefix',
        backend: { service: { name: 's', port: { number: 1 } }, resource: { kind: 'x', name: 'y' } },
      }),
    ),
    ingress(rule({ path: '/a', pathType: 'Prefix', backend: { resource: { kind: '', name: '' } } })),
    ingress(rule({ path: '/a', pathType: 'ImplementationSpecific', backend: BACKEND }, '1.2.3.4')),
    ingress(rule({ path: 'a', pathType: 'ImplementationSpecific', backend: BACKEND }, '*.a.b')),
    ingress(rule({ path: '/a', pathType: 'Prefix', backend: BACKEND }, 'a.*.b')),
    ingress({ rules: [{ host: 'A_B', http: { paths: [] } }] }),
    ingress({ rules: [{ host: 'a' }] }),
    ingress({
      ...rule({ path: '/', pathType: 'Prefix', backend: BACKEND }),
      tls: [{ hosts: ['A_B', '*.a'], secretName: 'A_B' }],
      ingressClassName: 'A_B',
    }),
    ingress(
      { defaultBackend: BACKEND, ingressClassName: 'x' },
      { annotations: { 'kubernetes.io/ingress.class': 'y' } },
    ),
    ingress({ defaultBackend: BACKEND }, { annotations: { 'kubernetes.io/ingress.class': 'y' } }),
    [
      'POST',
      INGRESSES,
      {
        metadata: { name: 'i' },
        spec: {
          ingressClassName: 'c',
          tls: [{ hosts: ['a'] }],
          rules: ['a', 'b', 'c', 'd'].map((host) => ({
            host,
            http: { paths: [{ path: '/', pathType: 'Prefix', backend: BACKEND }] },
          })),
        },
      },
    ],
    [
      'PATCH',
      `${INGRESSES}/i`,
      { spec: { rules: [{ host: 'z', http: { paths: [{ path: '/', pathType: 'Exact', backend: BACKEND }] } }] } },
      MERGE,
    ],
    [
      'PATCH',
      `${INGRESSES}/i/status`,
      { status: { loadBalancer: { ingress: [{ ip: '1.2.3.4' }, { hostname: 'h' }] } } },
      MERGE,
    ],
    [
      'PATCH',
      `${INGRESSES}/i/status`,
      { status: { loadBalancer: { ingress: [{ ip: 'x' }, { hostname: 'A_B' }, { hostname: '1.2.3.4' }] } } },
      MERGE,
    ],
    ['POST', INGRESSES, { metadata: { name: 'j' }, spec: { defaultBackend: BACKEND } }],
    table(INGRESSES),
    ['DELETE', `${INGRESSES}/j`],
  ],
  [
    'an ingress class',
    tried(CLASSES, { spec: { controller: 'a.b/c' } }),
    tried(CLASSES, { spec: {} }),
    tried(CLASSES, { spec: { controller: 'A_B' } }),
    tried(CLASSES, { spec: { controller: 'a.b/c', parameters: {} } }),
    tried(CLASSES, { spec: { controller: 'a.b/c', parameters: { kind: 'x', name: 'y', scope: 'Namespace' } } }),
    tried(CLASSES, {
      spec: { controller: 'a.b/c', parameters: { kind: 'x', name: 'y', scope: 'Nope', apiGroup: 'A_B' } },
    }),
    [
      'POST',
      CLASSES,
      { metadata: { name: 'OWN-class' }, spec: { controller: 'a.b/c', parameters: { kind: 'x', name: 'y' } } },
    ],
    ['PATCH', `${CLASSES}/OWN-class`, { spec: { controller: 'a.b/d' } }, MERGE],
    ['PATCH', `${CLASSES}/OWN-class`, { spec: { parameters: { name: 'z' } } }, MERGE],
    table(`${CLASSES}?fieldSelector=metadata.name=OWN-class`),
    ['DELETE', `${CLASSES}/OWN-class`],
  ],
  [
    'a network policy',
    policy({ podSelector: {} }),
    tried(POLICIES, {}),
    policy({ podSelector: { matchLabels: { a: 'b' } }, egress: [{}] }),
    policy({ podSelector: { matchLabels: { 'a b': 'c' } }, policyTypes: ['Nope'] }),
    policy({ policyTypes: ['Ingress', 'Egress', 'Ingress'] }),
    policy({ ingress: [{ from: [{ ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16', '11.0.0.0/8', 'x'] } }] }] }),
    policy({
      ingress: [{ from: [{ ipBlock: { cidr: 'x' } }, {}, { podSelector: {}, ipBlock: { cidr: '10.0.0.0/8' } }] }],
    }),
    policy({
      ingress: [
        { ports: [{ port: 80 }, { port: 'http', protocol: 'UDP' }, { port: 'A_B' }, { port: 0 }, { protocol: 'x' }] },
      ],
    }),
    policy({
      egress: [
        { ports: [{ port: 80, endPort: 90 }, { endPort: 90 }, { port: 90, endPort: 80 }, { port: 'a', endPort: 80 }] },
      ],
    }),
    policy({
      egress: [
        {
          to: [
            {
              namespaceSelector: {
                matchExpressions: [
                  { key: 'a', operator: 'Nope' },
                  { key: 'a', operator: 'In' },
                  { key: 'a', operator: 'Exists', values: ['x'] },
                ],
              },
            },
          ],
        },
      ],
    }),
    [
      'POST',
      POLICIES,
      {
        metadata: { name: 'p' },
        spec: {
          podSelector: {
            matchLabels: { b: 'c', a: 'b' },
            matchExpressions: [{ key: 'd', operator: 'In', values: ['y', 'x'] }],
          },
        },
      },
    ],
    ['POST', POLICIES, { metadata: { name: 'q' }, spec: { podSelector: {} } }],
    ['PATCH', `${POLICIES}/p`, { spec: { egress: [{}] } }, MERGE],
    table(POLICIES),
    ['DELETE', `${POLICIES}/q`],
  ],
];
