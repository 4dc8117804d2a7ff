import { type Case, DRY, MERGE, type Step, table } from '../compare-kinds.test-support.ts';

const APPS = '/apis/apps/v1/namespaces/NS';
const TEMPLATE = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
const SELECTOR = { matchLabels: { a: 'b' } };
/** No scheduler places these pods, so that nothing changes in the meantime. */
const IDLE = { ...TEMPLATE, spec: { ...TEMPLATE.spec, schedulerName: 'nobody' } };

const ENDING = {
  ...TEMPLATE,
  spec: { ...TEMPLATE.spec, restartPolicy: 'Never', activeDeadlineSeconds: 3, containers: [{ name: 'c' }] },
};

const SCALE_LABELS = { ...SELECTOR, matchExpressions: [{ key: 'q', operator: 'NotIn', values: ['w', 'v'] }] };
const SEVERAL = {
  ...TEMPLATE,
  spec: { nodeSelector: { b: 'c', a: 'b' }, containers: ['c', 'd'].map((name) => ({ name, image: `i/${name}` })) },
};

/** tried returns a step that creates an object in a dry run. */
function tried(plural: string, spec: object | undefined, name = 'p'): Step {
  return ['POST', `${APPS}/${plural}${DRY}`, { metadata: { name }, spec }];
}

/** tabled returns a step that creates an object in a dry run and requests a table of it. */
export function tabled(path: string, spec: object): Step {
  const [, , , headers] = table(path);
  return ['POST', `${path}${DRY}&includeObject=None`, { metadata: { name: 't' }, spec }, headers];
}

/** common returns the cases that all workloads of the group share. */
function common(plural: string): Case[] {
  const path = `${APPS}/${plural}`;
  const patched = (spec: object): Step => ['PATCH', `${path}/u`, { spec }, MERGE];
  return [
    [`the minimal spec of ${plural}`, tried(plural, { selector: SELECTOR, template: TEMPLATE })],
    [`a table of ${plural}`, tabled(path, { selector: SCALE_LABELS, template: SEVERAL })],
    [`no spec: ${plural}`, tried(plural, undefined)],
    [`a selector of everything: ${plural}`, tried(plural, { selector: {}, template: ENDING }, 'p.x')],
    [
      `invalid numbers and values: ${plural}`,
      tried(plural, {
        replicas: -1,
        minReadySeconds: -1,
        revisionHistoryLimit: -1,
        progressDeadlineSeconds: -2,
        selector: { matchLabels: { a: 'c' } },
        template: ENDING,
        strategy: { type: 'X' },
        updateStrategy: { type: 'X' },
        podManagementPolicy: 'X',
        persistentVolumeClaimRetentionPolicy: { whenDeleted: 'X' },
        ordinals: { start: -1 },
      }),
    ],
    [
      `an invalid selector: ${plural}`,
      tried(plural, {
        selector: { ...SELECTOR, matchExpressions: [{ key: 'a', operator: 'In' }] },
        template: TEMPLATE,
        strategy: { type: 'Recreate', rollingUpdate: {} },
        updateStrategy: { type: 'OnDelete', rollingUpdate: { partition: 1 } },
      }),
    ],
    ...[
      [0, 0],
      ['200%', 'x'],
      ['50%', '0%'],
      [-2, -1],
      [1, 3],
      [0, '10%'],
    ].map(([maxUnavailable, maxSurge]): Case => {
      const rollingUpdate = { maxUnavailable, maxSurge, partition: maxUnavailable === -2 ? -2 : undefined };
      const sentence = `rolling by ${maxUnavailable} and ${maxSurge}: ${plural}`;
      const spec = { selector: SELECTOR, template: TEMPLATE, progressDeadlineSeconds: 5, minReadySeconds: 5 };
      return [sentence, tried(plural, { ...spec, strategy: { rollingUpdate }, updateStrategy: { rollingUpdate } })];
    }),
    [
      `zero values: ${plural}`,
      tried(plural, {
        replicas: 0,
        minReadySeconds: 0,
        paused: false,
        selector: SELECTOR,
        template: { ...TEMPLATE, spec: { ...TEMPLATE.spec, hostNetwork: false, serviceAccount: 'x', nodeName: '' } },
      }),
    ],
    ...[undefined, 80, 81].map((hostPort): Case => {
      const containers = [{ name: 'c', image: 'i', ports: [{ containerPort: 80, hostPort }] }];
      const template = { ...TEMPLATE, spec: { ...TEMPLATE.spec, hostNetwork: true, containers } };
      return [
        `a template on the network of the node with the host port ${hostPort}: ${plural}`,
        tried(plural, { selector: SELECTOR, template }),
      ];
    }),
    [
      `allowed updates of ${plural}`,
      ['POST', path, { metadata: { name: 'u' }, spec: { replicas: 0, selector: SELECTOR, template: IDLE } }],
      patched({ selector: { matchLabels: { q: 'b' } }, serviceName: 'x' }),
      patched({ selector: { matchLabels: { q: 'b' } }, template: { metadata: { labels: { q: 'b' } } } }),
      ['PATCH', `${path}/u`, { metadata: { labels: { x: 'y' } } }, MERGE],
      patched({ template: { spec: { containers: [{ name: 'c', image: 'j' }] } } }),
      patched({ template: { spec: { restartPolicy: 'Never' } } }),
    ],
  ];
}

/** scaled returns a case in which a workload is scaled. */
function scaled(plural: string): Case {
  const path = `${APPS}/${plural}`;
  const scale = (body: object): Step => ['PUT', `${path}/s/scale`, body];
  const patch = (body: object, query = ''): Step => ['PATCH', `${path}/s/scale${query}`, body, MERGE];
  const spec = { replicas: 0, selector: SCALE_LABELS, template: IDLE };
  return [
    `${plural} are scaled`,
    ['POST', path, { metadata: { name: 's', labels: { x: 'y' } }, spec }],
    ['GET', `${path}/s/scale`],
    scale({ metadata: { name: 's' }, spec: { replicas: -1 } }),
    scale({ metadata: { name: 's', resourceVersion: '1' }, spec: { replicas: 0 } }),
    scale({ spec: { replicas: 0 } }),
    ['PUT', `${path}/none/scale`, { metadata: { name: 'none' }, spec: { replicas: 0 } }],
    ['GET', `${path}/none/scale`],
    patch({ spec: { replicas: 0 }, metadata: { labels: { n: 'n' } } }),
    patch({ metadata: { resourceVersion: '1' } }),
    patch({ spec: { replicas: 2 } }, DRY),
    ['DELETE', `${path}/s/scale`],
    ['DELETE', `${path}/s`],
  ];
}

const CLAIM = {
  metadata: { name: 'd' },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1024Mi' } } },
};

const MOUNTING = {
  ...TEMPLATE,
  spec: {
    containers: [{ name: 'c', image: 'i', volumeMounts: ['d', 'e'].map((name) => ({ name, mountPath: `/${name}` })) }],
  },
};

/** WORKLOAD_CASES covers typical workloads and their updates. */
export const WORKLOAD_CASES: readonly Case[] = [
  ...['deployments', 'replicasets', 'daemonsets', 'statefulsets'].flatMap(common),
  ...['deployments', 'replicasets', 'statefulsets'].map(scaled),
  [
    'a StatefulSet with claims',
    tried('statefulsets', { selector: SELECTOR, template: TEMPLATE, volumeClaimTemplates: [CLAIM] }),
    tried('statefulsets', { selector: SELECTOR, template: TEMPLATE, volumeClaimTemplates: [{}] }),
    tried('statefulsets', { selector: SELECTOR, template: MOUNTING, volumeClaimTemplates: [CLAIM] }),
  ],
  [
    'a Deployment that is replaced',
    tried('deployments', { selector: SELECTOR, template: TEMPLATE, strategy: { type: 'Recreate' } }),
  ],
  [
    'a DaemonSet that waits',
    tried('daemonsets', { selector: SELECTOR, template: TEMPLATE, updateStrategy: { type: 'OnDelete' } }),
  ],
  [
    'revisions hold data that never changes',
    ['POST', `${APPS}/controllerrevisions${DRY}`, { metadata: { name: 'p' } }],
    ['POST', `${APPS}/controllerrevisions${DRY}`, { metadata: { name: 'p' }, revision: -1, data: {} }],
    ['POST', `${APPS}/controllerrevisions${DRY}`, { metadata: { name: 'p' }, revision: -1, data: [] }],
    ['POST', `${APPS}/controllerrevisions`, { metadata: { name: 'u' }, revision: 1, data: { a: 1 } }],
    ['PATCH', `${APPS}/controllerrevisions/u`, { revision: -2, data: { a: 2 } }, MERGE],
    ['PATCH', `${APPS}/controllerrevisions/u`, { revision: 2 }, MERGE],
    table(`${APPS}/controllerrevisions/u`),
    ['DELETE', `${APPS}/controllerrevisions/u`],
  ],
];
