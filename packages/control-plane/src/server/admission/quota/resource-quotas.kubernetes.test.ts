import { systemClock } from '@bowline/machinery';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { waitFor } from '../../../testing/wait-for.ts';
import { type BothServers, bothServers } from '../../authorization/both-servers.test-support.ts';
import { ADMIN } from '../../authorization/guarded-server.test-support.ts';

const QUOTAS = '/api/v1/namespaces/NS/resourcequotas';
const CORE = '/api/v1/namespaces/NS';

const HARD = {
  secrets: '0',
  'count/secrets': '1',
  'count/deployments.apps': '0',
  'count/events': '0',
  'count/nodes': '0',
  'count/odd.example.test': '0',
  'example.test/other': '0',
  pods: '1',
  cpu: '1',
  'requests.memory': '1Gi',
  'limits.memory': '1536Mi',
  'requests.example.test/gpu': '1',
  'hugepages-2Mi': '0',
  services: '1',
  'services.nodeports': '1',
  'services.loadbalancers': '0',
  persistentvolumeclaims: '1',
  'requests.storage': '1G',
  'gold.storageclass.storage.k8s.io/requests.storage': '0',
};

let servers: BothServers;
beforeAll(async () => {
  servers = await bothServers({ admits: true, clock: systemClock });
  await servers.both(ADMIN, 'POST', `${CORE}/serviceaccounts`, { metadata: { name: 'default' } });
  await servers.both(ADMIN, 'POST', QUOTAS, { metadata: { name: 'few' }, spec: { hard: HARD } });
  await waitFor('the quota to be counted', async () => {
    const { real } = await servers.both(ADMIN, 'GET', `${QUOTAS}/few`);
    return (real.body.status as { used?: object }).used !== undefined;
  });
});
afterAll(async () => {
  await servers?.[Symbol.asyncDispose]();
});

it('counts the same things as the real server', async () => {
  const { real, ours } = await servers.both(ADMIN, 'GET', `${QUOTAS}/few`);
  expect(ours.body.status).toEqual(real.body.status);
});

const pod = (...containers: readonly object[]) => ({
  metadata: { name: 'a' },
  spec: { containers: containers.map((resources, index) => ({ name: `c${index}`, image: 'i', resources })) },
});
const service = (type: string, more: object = {}) => ({
  metadata: { name: 'a' },
  spec: { type, ports: [1, 2].map((port) => ({ name: `p${port}`, port })), ...more },
});
const claim = (storage: string, more: object = {}) => ({
  metadata: { name: 'a' },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } }, ...more },
});
const modest = { requests: { cpu: '100m', memory: '64Mi' }, limits: { memory: '64Mi' } };

it.each<[string, string, object]>([
  ['a kind with two names', `${CORE}/secrets`, { metadata: { name: 'a' } }],
  ['a dry run', `${CORE}/secrets?dryRun=All`, { metadata: { name: 'a' } }],
  [
    'a kind of another group',
    '/apis/apps/v1/namespaces/NS/deployments',
    {
      metadata: { name: 'a' },
      spec: { selector: { matchLabels: { a: 'b' } }, template: { ...pod({}), metadata: { labels: { a: 'b' } } } },
    },
  ],
  ['a Pod without requests and limits', `${CORE}/pods`, pod({}, modest, { limits: { memory: '1Gi' } })],
  [
    'a Pod with large requests',
    `${CORE}/pods`,
    pod(modest, { requests: { cpu: '1500m', memory: '2Gi' }, limits: { memory: '2Gi' } }),
  ],
  ['a Pod with limits only', `${CORE}/pods`, pod({ limits: { cpu: '2', memory: '1Gi' } })],
  [
    'a Pod with a large init container',
    `${CORE}/pods`,
    {
      metadata: { name: 'a' },
      spec: {
        ...pod(modest).spec,
        initContainers: [
          { name: 'side', image: 'i', restartPolicy: 'Always', resources: modest },
          { name: 'init', image: 'i', resources: { ...modest, requests: { cpu: '950m', memory: '1Mi' } } },
        ],
      },
    },
  ],
  [
    'a Pod that requests devices',
    `${CORE}/pods`,
    pod({ ...modest, limits: { memory: '64Mi', 'example.test/gpu': '2', 'example.test/other': '1' } }),
  ],
  ['node ports', `${CORE}/services`, service('NodePort')],
  ['load balancers', `${CORE}/services`, service('LoadBalancer')],
  [
    'load balancers without node ports',
    `${CORE}/services`,
    service('LoadBalancer', { allocateLoadBalancerNodePorts: false }),
  ],
  ['storage', `${CORE}/persistentvolumeclaims`, claim('2Gi')],
  ['storage of a class', `${CORE}/persistentvolumeclaims`, claim('1Mi', { storageClassName: 'gold' })],
])('refuses %s with the message of the real server', async (_what, path, body) => {
  const { real, ours } = await servers.both(ADMIN, 'POST', path, body);
  expect(real.code).toBe(403);
  expect(ours).toEqual(real);
});
