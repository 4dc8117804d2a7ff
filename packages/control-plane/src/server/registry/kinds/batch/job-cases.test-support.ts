import { tabled } from '../apps/workload-cases.test-support.ts';
import { type Case, DRY, MERGE, type Step, table } from '../compare-kinds.test-support.ts';

const JOBS = '/apis/batch/v1/namespaces/NS/jobs';
const BUDGETS = '/apis/policy/v1/namespaces/NS/poddisruptionbudgets';
const AUTOSCALERS = '/apis/autoscaling/v2/namespaces/NS/horizontalpodautoscalers';
const NODES = '/api/v1/nodes';

const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } };

function tried(sentence: string, path: string, spec: object | undefined, name = 'p'): Case {
  return [sentence, ['POST', `${path}${DRY}`, { metadata: { name }, spec }]];
}

const LONG = `${'very-'.repeat(13)}long`;

const JOB_CASES: readonly Case[] = [
  tried('the minimal spec of a Job', JOBS, { template }),
  ['a table of Jobs', tabled(JOBS, { template })],
  ['a table of suspended Jobs', tabled(JOBS, { suspend: true, parallelism: 3, template })],
  tried('a Job without spec', JOBS, undefined),
  tried('a Job with the restart policy Always', JOBS, {
    template: { spec: { containers: [{ name: 'c', image: 'i' }] } },
  }),
  tried('a Job with invalid numbers and values', JOBS, {
    parallelism: -1,
    completions: -1,
    activeDeadlineSeconds: -1,
    backoffLimit: -1,
    ttlSecondsAfterFinished: -1,
    completionMode: 'X',
    podReplacementPolicy: 'X',
    template,
  }),
  tried('an indexed Job without completions', JOBS, { completionMode: 'Indexed', parallelism: 3, template }, 'p.x'),
  tried('an indexed Job', JOBS, { completionMode: 'Indexed', completions: 3, template }, 'p.x'),
  tried('a Job with a manual selector', JOBS, {
    manualSelector: true,
    selector: { matchLabels: { a: 'b' } },
    template,
  }),
  tried('a Job with manualSelector but no selector', JOBS, { manualSelector: true, template }),
  tried('a per-index backoff limit without indexes', JOBS, { backoffLimitPerIndex: 1, template }),
  tried('more failed indexes than completions', JOBS, {
    backoffLimitPerIndex: 1,
    completionMode: 'Indexed',
    completions: 3,
    maxFailedIndexes: 5,
    template,
  }),
  tried('per-index limits', JOBS, { backoffLimitPerIndex: 1, completionMode: 'Indexed', completions: 3, template }),
  tried('pod failure policies', JOBS, {
    podFailurePolicy: {
      rules: [
        { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget' }] },
        { action: 'X', onExitCodes: { operator: 'In', values: [] } },
      ],
    },
    template,
  }),
  tried('zero parallelism', JOBS, { parallelism: 0, template }),
  tried('a Job with a long name', JOBS, { template }, LONG),
  [
    'allowed updates of a Job',
    ['POST', JOBS, { metadata: { name: 'u' }, spec: { suspend: true, template } }],
    ...(
      [
        { completions: 5 },
        { template: { spec: { dnsPolicy: 'Default' } } },
        { completionMode: 'Indexed' },
        { podReplacementPolicy: 'Failed' },
        { backoffLimit: 2, parallelism: 3, ttlSecondsAfterFinished: 4 },
        { template: { spec: { nodeSelector: { a: 'b' } } } },
      ] as const
    ).map((spec): Step => ['PATCH', `${JOBS}/u${DRY}`, { spec }, MERGE]),
  ],
];

const BUDGET_CASES: readonly Case[] = [
  tried('an empty budget', BUDGETS, undefined),
  tried('a budget for all pods', BUDGETS, { minAvailable: 1, selector: {} }),
  tried('a budget with minAvailable and maxUnavailable', BUDGETS, { minAvailable: 1, maxUnavailable: '1%' }),
  tried('a negative budget', BUDGETS, {
    minAvailable: -1,
    selector: { matchExpressions: [{ key: 'a', operator: 'X' }] },
    unhealthyPodEvictionPolicy: 'X',
  }),
  tried('a budget above 100%', BUDGETS, { minAvailable: '200%' }),
  tried('a budget that is not a number', BUDGETS, { maxUnavailable: 'x' }),
  [
    'budgets in a table',
    [
      'POST',
      BUDGETS,
      { metadata: { name: 't' }, spec: { maxUnavailable: '50%', selector: { matchLabels: { no: 'pod' } } } },
    ],
    table(`${BUDGETS}/t`),
  ],
];

const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'x' };

const AUTOSCALER_CASES: readonly Case[] = [
  tried('the minimal spec of an autoscaler', AUTOSCALERS, { maxReplicas: 3, scaleTargetRef }),
  tried('an autoscaler without a target', AUTOSCALERS, {}),
  tried('an autoscaler to zero replicas', AUTOSCALERS, { maxReplicas: 0, minReplicas: 0, scaleTargetRef }),
  tried('an autoscaler with a minimum above its maximum', AUTOSCALERS, {
    maxReplicas: 1,
    minReplicas: 2,
    scaleTargetRef,
  }),
  tried('an autoscaler with invalid scale-down policies', AUTOSCALERS, {
    maxReplicas: 3,
    scaleTargetRef,
    behavior: { scaleUp: {}, scaleDown: { policies: [{ type: 'Pods', value: 0, periodSeconds: 0 }] } },
  }),
  tried('an autoscaler with a scale-up behavior', AUTOSCALERS, {
    maxReplicas: 3,
    scaleTargetRef,
    behavior: { scaleUp: {} },
  }),
  tried('an autoscaler of an invalid target', AUTOSCALERS, {
    maxReplicas: 3,
    scaleTargetRef: { apiVersion: 'v1', kind: 'a/b', name: 'c/d' },
  }),
  tried('invalid metrics', AUTOSCALERS, {
    maxReplicas: 3,
    scaleTargetRef,
    metrics: [
      { type: 'Resource' },
      { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization' } } },
      { type: 'X' },
      { type: 'Pods', pods: { metric: { name: '' }, target: { type: 'AverageValue', averageValue: '0' } } },
      { type: 'Object', object: {} },
      { type: 'External', external: { metric: { name: 'a/b' }, target: { type: 'Value' } } },
      { type: 'ContainerResource', containerResource: { target: {} } },
    ],
  }),
  [
    'autoscalers in a table',
    [
      'POST',
      AUTOSCALERS,
      {
        metadata: { name: 't' },
        spec: {
          maxReplicas: 3,
          scaleTargetRef: { ...scaleTargetRef, kind: 'Nothing' },
          metrics: [
            { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } },
            {
              type: 'Resource',
              resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '1024Mi' } },
            },
            { type: 'Pods', pods: { metric: { name: 'm' }, target: { type: 'AverageValue', averageValue: '1' } } },
          ],
        },
      },
    ],
    table(`${AUTOSCALERS}/t`),
  ],
];

const NODE_CASES: readonly Case[] = [
  tried('the minimal spec of a Node', NODES, undefined, 'OWN-a'),
  tried('a Node with a pod CIDR', NODES, { podCIDR: '10.1.0.0/24' }, 'OWN-a'),
  tried(
    'invalid taints and CIDRs',
    NODES,
    {
      podCIDRs: ['x'],
      taints: [
        { key: 'a b', effect: 'X' },
        { key: 'q', effect: 'NoSchedule' },
        { key: 'q', effect: 'NoSchedule' },
        { key: '', value: '/' },
      ],
    },
    'OWN-a',
  ),
  tried('two CIDRs of the same IP family', NODES, { podCIDRs: ['10.1.0.0/24', '10.1.1.0/24'] }, 'OWN-a'),
  [
    'a Node sets its status on creation',
    [
      'POST',
      `${NODES}${DRY}`,
      {
        metadata: { name: 'OWN-a' },
        status: { capacity: { cpu: '0.5' }, conditions: [{ type: 'Ready', status: 'True' }] },
      },
    ],
  ],
  [
    'allowed updates of a Node',
    [
      'POST',
      NODES,
      { metadata: { name: 'OWN-n' }, spec: { podCIDR: '10.1.0.0/24', providerID: 'x://y', unschedulable: true } },
    ],
    [
      'PATCH',
      `${NODES}/OWN-n${DRY}`,
      { spec: { podCIDR: '10.2.0.0/24', podCIDRs: ['10.2.0.0/24'], providerID: 'z' } },
      MERGE,
    ],
    [
      'PATCH',
      `${NODES}/OWN-n`,
      { metadata: { labels: { 'node-role.kubernetes.io/worker': '', 'kubernetes.io/role': 'x' } } },
      MERGE,
    ],
    [
      'PATCH',
      `${NODES}/OWN-n/status`,
      { status: { conditions: [{ type: 'Ready', status: 'True' }], capacity: { cpu: 1 } } },
      MERGE,
    ],
    table(`${NODES}/OWN-n`),
    ['DELETE', `${NODES}/OWN-n`],
  ],
];

/** OTHER_CASES covers jobs, budgets, autoscalers and nodes. */
export const OTHER_CASES: readonly Case[] = [...JOB_CASES, ...BUDGET_CASES, ...AUTOSCALER_CASES, ...NODE_CASES];
