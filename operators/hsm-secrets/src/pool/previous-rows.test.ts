import { expect, it } from 'vitest';
import type { DeviceRow, PodRow } from '../api/hsm-pool.ts';
import { previousRows } from './previous-rows.ts';

const TIME = '2026-01-01T00:00:00Z';
const pod: PodRow = {
  podName: 'pico-discovery-1',
  podUID: 'u1',
  nodeName: 'node-1',
  devicesFound: 1,
  observedTime: TIME,
  discoveryStatus: 'completed',
  fresh: true,
};
const device: DeviceRow = { id: '1', devicePath: '/dev/1', nodeName: 'node-1', available: true, health: 'Healthy' };

it('continues the rows of this version', () => {
  const lost = { ...device, id: '2', available: false, lostSince: TIME };
  expect(previousRows({ reportingPods: [pod], aggregatedDevices: [device, lost] })).toEqual({
    pods: [pod],
    devices: [device, lost],
  });
  expect(previousRows(undefined)).toEqual({ pods: [], devices: [] });
});

it('drops rows that lack something, or have an invalid time', () => {
  const { podUID: _uid, ...withoutUid } = pod;
  const { id: _id, ...withoutId } = device;
  const rows = previousRows({
    reportingPods: [withoutUid as PodRow, { ...pod, observedTime: 'yesterday' }],
    aggregatedDevices: [withoutId as DeviceRow, { ...device, lostSince: 'yesterday' }],
  });
  expect(rows).toEqual({ pods: [], devices: [] });
});
