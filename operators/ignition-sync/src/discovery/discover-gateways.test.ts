import { describe, expect, it } from 'vitest';
import { AGENT_CONTAINER, POD_ANNOTATIONS } from '../api/names.ts';
import { discoverGateways } from './discover-gateways.ts';
import { type GatewayPod, gatewayPod } from './gateway-pod.ts';
import { injectedPod, podWithoutAgent } from './gateways.test-support.ts';

const discover = (pods: readonly GatewayPod[], onlyOne = true) => discoverGateways(pods, { name: 'plant', onlyOne });
const named = (gatewayName: string) => ({ annotations: { gatewayName } });

describe('gatewayPod', () => {
  const metadata = { namespace: 'plant', name: 'site-0', uid: '1' };

  it('ignores pods without annotations of the operator', () => {
    expect(gatewayPod({ metadata: { ...metadata, annotations: { other: 'x' } } })).toBeUndefined();
  });

  it.each(['initContainers', 'containers'] as const)('keeps the state of an agent among the %s', (containers) => {
    const statuses = containers === 'containers' ? 'containerStatuses' : 'initContainerStatuses';
    const status = { name: AGENT_CONTAINER, ready: true, image: '', imageID: '', restartCount: 0 };
    const pod = gatewayPod({
      metadata: { ...metadata, annotations: { [POD_ANNOTATIONS.inject]: 'true', other: 'x' }, labels: { a: 'b' } },
      spec: { containers: [{ name: 'gateway' }], [containers]: [{ name: AGENT_CONTAINER }], nodeName: 'n' },
      status: { phase: 'Running', [statuses]: [status] },
    });
    expect(pod).toEqual({
      ...metadata,
      annotations: { [POD_ANNOTATIONS.inject]: 'true' },
      labels: { a: 'b' },
      phase: 'Running',
      hasAgent: true,
      isAgentReady: true,
      serviceAccount: 'default',
      node: 'n',
      isTerminating: false,
    });
  });
});

describe('gateways', () => {
  it('are named by annotation, label and pod, in this order', () => {
    const label = { labels: { 'app.kubernetes.io/name': 'by-label' } };
    const { gateways } = discover([
      injectedPod('pod-c'),
      injectedPod('pod-b', label),
      injectedPod('pod-a', { ...label, ...named('by annotation') }),
    ]);
    expect(gateways.map(({ name, key }) => [name, key])).toEqual([
      ['by annotation', 'by_annotation'],
      ['by-label', 'pod-b'],
      ['pod-c', 'pod-c'],
    ]);
  });

  it('with the same name have different keys', () => {
    const { gateways } = discover([
      injectedPod('a', named('site')),
      injectedPod('b', named('site')),
      // This key is the name of another pod.
      injectedPod('c', named('d')),
      injectedPod('d'),
      // These names are equal as keys.
      injectedPod('e', named('x/y')),
      injectedPod('f', named('x y')),
    ]);
    expect(gateways.map(({ key, pod }) => `${pod.name}=${key}`).sort()).toEqual([
      'a=site-a',
      'b=site-b',
      'c=d-c',
      'd=d',
      'e=x_y-e',
      'f=x_y-f',
    ]);
  });

  it('with the same long name have different keys that a ConfigMap accepts', () => {
    const long = 'n'.repeat(253);
    const { gateways } = discover([injectedPod('a', named(long)), injectedPod('b', named(long))]);
    const keys = gateways.map(({ key }) => key);
    expect(new Set(keys).size).toBe(2);
    expect(Math.max(...keys.map(({ length }) => length))).toBeLessThanOrEqual(253);
  });

  it('are running pods of this IgnitionSync; pods that start are apart', () => {
    const { gateways, starting, missing } = discover([
      injectedPod('running'),
      injectedPod('pending', { phase: 'Pending' }),
      injectedPod('ended', { phase: 'Succeeded' }),
      injectedPod('failed', { phase: 'Failed' }),
      injectedPod('deleted', { isTerminating: true }),
      injectedPod('other', { annotations: { crName: 'area' } }),
    ]);
    expect(gateways.map(({ name }) => name)).toEqual(['running']);
    expect(starting.map(({ name }) => name)).toEqual(['pending']);
    expect(missing).toEqual([]);
  });

  it('of a pod without cr-name belong to the only IgnitionSync', () => {
    const pods = [injectedPod('site-0', { annotations: { crName: '' } })];
    expect(discover(pods).gateways).toHaveLength(1);
    expect(discover(pods, false).gateways).toHaveLength(0);
  });

  it('are at most 400, the first by name', () => {
    const pods = Array.from({ length: 401 }, (_, index) => injectedPod(`p${String(400 - index).padStart(3, '0')}`));
    const { gateways, total, knownKeys } = discover(pods);
    expect([gateways.length, total, gateways[0]?.name, gateways.at(-1)?.name]).toEqual([400, 401, 'p000', 'p399']);
    expect(knownKeys.has('p400')).toBe(true);
  });
});

describe('pods without an agent', () => {
  it('are reported with the reason of the webhook', () => {
    const { missing, gateways } = discover([podWithoutAgent('a', {}, 'no image'), podWithoutAgent('b')]);
    expect(gateways).toEqual([]);
    expect(missing.map(({ name, reason }) => [name, reason])).toEqual([
      ['a', 'no image'],
      ['b', 'the injection webhook was not called when the pod was created; recreate the pod'],
    ]);
  });

  it('that name no IgnitionSync are reported by each that could apply', () => {
    const [missing] = discover([podWithoutAgent('a', { annotations: { crName: '' } })], false).missing;
    expect(missing).toMatchObject({ name: 'a', isOurs: false });
    expect(discover([podWithoutAgent('a', { annotations: { crName: 'area' } })], false).missing).toEqual([]);
  });

  it('that do not request one are not reported', () => {
    expect(discover([podWithoutAgent('a', { annotations: { inject: 'false' } })]).missing).toEqual([]);
  });

  it('but bring their own are gateways', () => {
    expect(discover([podWithoutAgent('a', { hasAgent: true })]).gateways).toHaveLength(1);
  });
});

it('ServiceAccounts are those of the pods of this IgnitionSync in every phase', () => {
  const { serviceAccounts } = discover([
    injectedPod('a', { phase: 'Pending', serviceAccount: 'pending' }),
    injectedPod('b', { phase: 'Succeeded', serviceAccount: 'ended' }),
    injectedPod('c', { serviceAccount: 'running' }),
    injectedPod('d', { serviceAccount: 'running', isTerminating: true }),
    injectedPod('e', { serviceAccount: 'other', annotations: { crName: 'area' } }),
  ]);
  expect(serviceAccounts).toEqual(['ended', 'pending', 'running']);
});
