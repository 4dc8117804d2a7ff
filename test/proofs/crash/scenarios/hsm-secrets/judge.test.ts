import type { HSMPool } from '@bowline/hsm-secrets';
import { expect, it } from 'vitest';
import { type ExpectedDevice, type Found, judge } from './judge.ts';

const device: ExpectedDevice = { key: 'n/a', state: 'active', serials: ['1', '2'], lost: ['3'], podName: 'p' };
const objects = [
  'ServiceAccount n/a-discovery',
  'ServiceAccount n/a-agent',
  'RoleBinding n/a-discovery',
  'NetworkPolicy n/a-agent',
  'Secret n/a-agent-tls',
];

function row(id: string, available = true) {
  return { id, devicePath: '/dev/x', nodeName: 'n', available, health: 'Healthy' as const };
}

function pool(devices: readonly ReturnType<typeof row>[], totalDevices = devices.length, fresh = true): HSMPool {
  const pod = { podName: 'p', podUID: 'u', nodeName: 'n', devicesFound: 1, observedTime: '', fresh };
  return {
    metadata: { namespace: 'n', name: 'a-pool' },
    spec: { hsmDeviceRef: 'a', gracePeriod: '5m' },
    status: {
      totalDevices,
      aggregatedDevices: [...devices],
      reportingPods: [{ ...pod, discoveryStatus: 'completed' }],
    },
  };
}

function found(pools: readonly HSMPool[], others: readonly string[] = ['DaemonSet n/a-discovery']): Found {
  return { pools: new Map(pools.map((each) => ['n/a-pool', each])), objects: new Set([...objects, ...others]) };
}

it.each<[string, Found, ExpectedDevice, readonly string[]]>([
  ['what is expected', found([pool([row('1'), row('2'), row('3', false)])]), device, []],
  ['a missing pool', found([]), device, ['HSMPool n/a-pool is missing']],
  ['a missing device', found([pool([row('1')])]), device, ['HSMPool n/a-pool has 1, not 1,2']],
  [
    'a device that no pod reported',
    found([pool([row('1'), row('2'), row('4', false)])]),
    device,
    ['HSMPool n/a-pool lists 4, which its pod never reported'],
  ],
  ['a wrong count', found([pool([row('1'), row('2')], 3)]), device, ['HSMPool n/a-pool counts 3 devices']],
  [
    'a pod that is not fresh',
    found([pool([row('1'), row('2')], 2, false)]),
    device,
    ['HSMPool n/a-pool does not list its pod as the only one, and fresh'],
  ],
  ['a missing object', found([pool([row('1'), row('2')])], []), device, ['DaemonSet n/a-discovery is missing']],
  [
    'discovery of a suspended device',
    found([pool([row('1'), row('2')])]),
    { ...device, state: 'suspended' },
    ['DaemonSet n/a-discovery is left over'],
  ],
  [
    'what is left of a deleted device',
    { pools: new Map([['n/a-pool', pool([])]]), objects: new Set(['Secret n/a-agent-tls']) },
    { ...device, state: 'gone' },
    ['Secret n/a-agent-tls is left over', 'HSMPool n/a-pool is left over'],
  ],
])('judges %s', (_, state, expected, problems) => {
  expect(judge(state, [expected])).toEqual(problems);
});
