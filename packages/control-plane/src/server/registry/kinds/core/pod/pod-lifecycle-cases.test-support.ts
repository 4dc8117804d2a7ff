import { type Case, DRY, MERGE, type Step, table } from '../../compare-kinds.test-support.ts';

const PODS = '/api/v1/namespaces/NS/pods';
const BUDGETS = '/apis/policy/v1/namespaces/NS/poddisruptionbudgets';

/** alone returns a step that creates a pod that no scheduler places. */
function alone(name: string, more: object = {}, metadata: object = {}): Step {
  const containers = [{ name: 'c', image: 'i' }];
  return ['POST', PODS, { metadata: { name, ...metadata }, spec: { schedulerName: 'nobody', containers, ...more } }];
}

const PLACED = { nodeName: 'OWN-none' };

/** changed returns steps that update a pod in a dry run. */
function changed(name: string, ...specs: readonly object[]): Step[] {
  return specs.map((spec): Step => ['PATCH', `${PODS}/${name}${DRY}`, { spec }, MERGE]);
}

function bind(name: string, body: object, query = ''): Step {
  return ['POST', `${PODS}/${name}/binding${query}`, body];
}

function evict(name: string, body: object, query = ''): Step {
  return ['POST', `${PODS}/${name}/eviction${query}`, body];
}

const terminated = (reason: string | undefined, exitCode = 0, signal = 0) => ({
  terminated: { reason, exitCode, signal },
});
const waiting = (reason: string) => ({ waiting: { reason } });
const running = { running: { startedAt: '2026-01-01T00:00:00Z' } };

interface Shown {
  readonly status: object;
  readonly spec?: object;
}

const two = { containers: ['c', 'd'].map((name) => ({ name, image: 'i' })) };
const inits = {
  initContainers: [
    { name: 'i', image: 'i' },
    { name: 's', image: 'i', restartPolicy: 'Always' },
  ],
};
const container = (name: string, state: object, more: object = {}) => ({
  name,
  state,
  ready: false,
  restartCount: 0,
  ...more,
});

/** States of pods, which a table summarizes in one word. */
const SHOWN: Readonly<Record<string, Shown>> = {
  new: { status: {} },
  running: {
    status: {
      phase: 'Running',
      podIP: '10.9.8.7',
      podIPs: [{ ip: '10.9.8.7' }],
      containerStatuses: [container('c', running, { ready: true, restartCount: 2 })],
    },
  },
  waiting: { status: { phase: 'Pending', containerStatuses: [container('c', waiting('ImagePullBackOff'))] } },
  crashing: {
    status: { phase: 'Running', containerStatuses: [container('c', waiting('CrashLoopBackOff'), { restartCount: 5 })] },
  },
  failed: { status: { phase: 'Failed', containerStatuses: [container('c', terminated('Error', 1))] } },
  killed: { status: { phase: 'Failed', containerStatuses: [container('c', terminated(undefined, 137, 9))] } },
  exited: { status: { phase: 'Failed', containerStatuses: [container('c', terminated(undefined, 3))] } },
  evicted: { status: { phase: 'Failed', reason: 'Evicted' } },
  half: {
    spec: two,
    status: {
      phase: 'Running',
      conditions: [{ type: 'Ready', status: 'True' }],
      containerStatuses: [container('c', terminated('Completed')), container('d', running, { ready: true })],
    },
  },
  unready: {
    spec: two,
    status: {
      phase: 'Running',
      containerStatuses: [container('c', terminated('Completed')), container('d', running, { ready: true })],
    },
  },
  beginning: {
    spec: inits,
    status: { phase: 'Pending', initContainerStatuses: [container('i', running), container('s', {})] },
  },
  initfails: {
    spec: inits,
    status: {
      phase: 'Pending',
      initContainerStatuses: [container('i', terminated('Error', 1), { restartCount: 3 }), container('s', {})],
    },
  },
  initwaits: {
    spec: inits,
    status: { phase: 'Pending', initContainerStatuses: [container('i', waiting('ErrImagePull')), container('s', {})] },
  },
  sidecar: {
    spec: inits,
    status: {
      phase: 'Running',
      conditions: [{ type: 'Initialized', status: 'True' }],
      initContainerStatuses: [
        container('i', terminated('Completed')),
        container('s', running, { ready: true, started: true, restartCount: 1 }),
      ],
      containerStatuses: [container('c', running, { ready: true, restartCount: 1 })],
    },
  },
  gated: { spec: { schedulingGates: [{ name: 'a/b' }] }, status: {} },
  gates: {
    spec: { readinessGates: [{ conditionType: 'a' }, { conditionType: 'b' }] },
    status: { phase: 'Running', nominatedNodeName: 'x', conditions: [{ type: 'a', status: 'True' }] },
  },
};

/** POD_LIFECYCLE_CASES covers the lifecycle of pods. */
export const POD_LIFECYCLE_CASES: readonly Case[] = [
  [
    'only a few fields of a pod may be changed',
    alone('u', { activeDeadlineSeconds: 10, tolerations: [{ key: 'a', operator: 'Exists' }] }),
    ...changed(
      'u',
      { restartPolicy: 'Never' },
      { activeDeadlineSeconds: 11 },
      { activeDeadlineSeconds: null },
      { activeDeadlineSeconds: 5 },
      { containers: [{ name: 'c' }, { name: 'd', image: 'i' }] },
      { schedulingGates: [{ name: 'a/b' }] },
      { nodeName: 'x' },
      { terminationGracePeriodSeconds: 5 },
    ),
    [
      'PATCH',
      `${PODS}/u`,
      [{ op: 'replace', path: '/spec/containers/0/image', value: 'j' }],
      { 'content-type': 'application/json-patch+json' },
    ],
    ['PATCH', `${PODS}/u`, { metadata: { labels: { a: 'b' } }, status: { phase: 'Running' } }, MERGE],
    ['PATCH', `${PODS}/u/status`, { status: { qosClass: 'Guaranteed' } }, MERGE],
    [
      'PATCH',
      `${PODS}/u/status`,
      {
        metadata: { labels: { c: 'd' } },
        spec: { nodeName: 'x' },
        status: {
          conditions: [{ type: 'A', status: 'True' }],
          containerStatuses: [{ name: 'c', state: { running: {} } }],
        },
      },
      MERGE,
    ],
    ['DELETE', `${PODS}/u${DRY}`],
    ['DELETE', `${PODS}/u`],
    ['GET', `${PODS}/u`],
  ],
  [
    'a pod is bound once',
    alone('b'),
    bind('b', { target: { kind: 'Node', name: 'OWN-none' } }),
    bind('b', { metadata: { name: 'b' }, target: { kind: 'Pod' } }),
    bind('b', { metadata: { name: 'b' }, target: { name: 'OWN-none' } }, DRY),
    bind('b', { metadata: { name: 'b', annotations: { a: 'b' } }, target: { kind: 'Node', name: 'OWN-none' } }),
    bind('b', { metadata: { name: 'b' }, target: { kind: 'Node', name: 'OWN-none' } }),
    bind('none', { metadata: { name: 'none' }, target: { kind: 'Node', name: 'x' } }),
    ['GET', `${PODS}/b`],
    ['DELETE', `${PODS}/b`],
    bind('b', { metadata: { name: 'b' }, target: { kind: 'Node', name: 'OWN-none' } }),
    ['DELETE', `${PODS}/b`, { gracePeriodSeconds: 5 }],
    ['DELETE', `${PODS}/b`, { gracePeriodSeconds: 0 }],
    ['GET', `${PODS}/b`],
  ],
  [
    'a pod with scheduling gates is not bound',
    alone('w', { schedulingGates: [{ name: 'a/b' }] }),
    bind('w', { metadata: { name: 'w' }, target: { name: 'x' } }),
  ],
  [
    'a pod that has ended is removed at once',
    alone('e', PLACED),
    ['PATCH', `${PODS}/e/status`, { status: { phase: 'Succeeded' } }, MERGE],
    ['DELETE', `${PODS}/e`],
    ['GET', `${PODS}/e`],
  ],
  [
    'log options are validated',
    alone('l', { ...two, initContainers: [{ name: 'i', image: 'i' }] }),
    ['GET', `${PODS}/l/log`],
    ['GET', `${PODS}/l/log?container=x`],
    ['GET', `${PODS}/l/log?container=c&tailLines=-1&sinceSeconds=0`],
    ['GET', `${PODS}/l/log?container=c&limitBytes=0&sinceSeconds=1&sinceTime=2020-01-01T00:00:00Z`],
    ['GET', `${PODS}/l/log?container=c&tailLines=x`],
    ['GET', `${PODS}/l/log?container=c&sinceTime=x`],
    ['GET', `${PODS}/none/log`],
  ],
  [
    'a pod that is not running is evicted whatever its budget',
    [
      'POST',
      BUDGETS,
      { metadata: { name: 'b' }, spec: { minAvailable: 1, selector: { matchLabels: { evict: 'me' } } } },
    ],
    alone('v', PLACED, { labels: { evict: 'me' } }),
    evict('v', { metadata: { name: 'other' } }),
    evict('none', { metadata: { name: 'none' } }),
    evict('v', { metadata: { name: 'v' } }, DRY),
    evict('v', { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'v' } }),
    ['GET', `${PODS}/v`],
    ['DELETE', `${PODS}/v`, { gracePeriodSeconds: 0 }],
  ],
  [
    'a pod with two budgets is not evicted',
    [
      'POST',
      BUDGETS,
      { metadata: { name: 'c1' }, spec: { minAvailable: 1, selector: { matchLabels: { evict: 'two' } } } },
    ],
    [
      'POST',
      BUDGETS,
      { metadata: { name: 'c2' }, spec: { minAvailable: 1, selector: { matchLabels: { evict: 'two' } } } },
    ],
    alone('two', PLACED, { labels: { evict: 'two' } }),
    ['PATCH', `${PODS}/two/status`, { status: { phase: 'Running' } }, MERGE],
    evict('two', { metadata: { name: 'two' } }),
    ['DELETE', `${PODS}/two`, { gracePeriodSeconds: 0 }],
  ],
  ...Object.entries(SHOWN).map(
    ([name, { spec, status }]): Case => [
      `a table shows a pod that is ${name}`,
      alone(name, spec),
      ['PATCH', `${PODS}/${name}/status`, { status }, MERGE],
      table(`${PODS}/${name}?includeObject=None`),
    ],
  ),
  [
    'a table shows a terminating pod',
    alone('ends', PLACED),
    ['DELETE', `${PODS}/ends`],
    table(`${PODS}/ends?includeObject=None`),
    ['DELETE', `${PODS}/ends`, { gracePeriodSeconds: 0 }],
  ],
];
