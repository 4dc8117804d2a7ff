import { expect, it } from 'vitest';
import { Judge, type ObservedStatus } from './judge.ts';
import { Truth } from './truth.ts';

const GRACE = 9_000;
const HEARTBEAT = 3_000;

/** A pool with the device S1 on a node whose pod has reported it at 0. */
function start() {
  const truth = new Truth(GRACE, HEARTBEAT);
  const judge = new Judge(truth);
  const devices = new Map([['S1', true]]);
  const pod = {
    name: 'p',
    uid: 'u',
    node: 'a',
    reports: [{ at: 0, status: 'completed' as const, devices, clockAheadMs: 0 }],
  };
  truth.pods.push(pod);
  return { truth, judge, pod };
}

function status(device: 'available' | 'lost' | 'none', fresh = true): ObservedStatus {
  const row = { id: 'S1', devicePath: '/dev/x', nodeName: 'a', available: device === 'available' };
  const podRow = { podName: 'p', podUID: 'u', nodeName: 'a', devicesFound: 1, observedTime: '', fresh };
  return {
    totalDevices: device === 'none' ? 0 : 1,
    availableDevices: device === 'available' ? 1 : 0,
    reportingPodCount: 1,
    aggregatedDevices: device === 'none' ? [] : [{ ...row, health: 'Healthy' }],
    reportingPods: [{ ...podRow, discoveryStatus: 'completed' }],
    clockSkew: undefined,
  };
}

it('accepts a device that is lost one millisecond after the grace period, and removed after another', () => {
  const { judge } = start();
  expect(judge.status(0, status('available'))).toEqual([]);
  expect(judge.settled(GRACE, 0)).toEqual([]);
  expect(judge.status(GRACE + 1, status('lost', false))).toEqual([]);
  expect(judge.settled(2 * GRACE + 1, 0)).toEqual([]);
  expect(judge.status(2 * GRACE + 2, status('none', false))).toEqual([]);
});

it('detects a device that is lost or removed too early', () => {
  expect(lostAt(GRACE)).toEqual([expect.stringContaining('S1 on a must be available until 9000')]);
  expect(lostAt(GRACE + 1)).toEqual([]);
  const { judge } = start();
  judge.status(0, status('available'));
  judge.status(GRACE + 1, status('lost', false));
  expect(judge.status(2 * GRACE, status('none', false))).toEqual([expect.stringContaining('S1 must be listed until')]);
});

function lostAt(at: number): readonly string[] {
  const { judge } = start();
  judge.status(0, status('available'));
  return judge.status(at, status('lost', false));
}

it('detects a device that is available or listed for too long', () => {
  const { judge } = start();
  judge.status(0, status('available'));
  expect(judge.settled(GRACE + 1, 0)).toContainEqual(expect.stringContaining('may be available until 9000 at most'));
  judge.status(GRACE + 1, status('lost', false));
  expect(judge.settled(2 * GRACE + 2, 0)).toEqual([expect.stringContaining('still listed')]);
});

it('detects a device that is lost although its pod ended only now', () => {
  const { judge, pod } = start();
  judge.status(0, status('available'));
  Object.assign(pod, { goneAt: GRACE, wasFresh: judge.hasFresh('u') });
  expect(judge.status(2 * GRACE, status('lost', false))).toEqual([expect.stringContaining('must be available until')]);
});

it('accepts that a report contradicts earlier ones at once', () => {
  const { judge, pod } = start();
  judge.status(0, status('available'));
  pod.reports.push({ at: 1, status: 'completed', devices: new Map(), clockAheadMs: 0 });
  expect(judge.settled(1, 0)).toEqual([expect.stringContaining('the report of 1 contradicts it')]);
  expect(judge.status(1, status('lost'))).toEqual([]);
  expect(judge.settled(1, 0)).toEqual([]);
});

it('detects wrong counts, and a clock that is reported although it is right', () => {
  const { judge } = start();
  expect(judge.status(0, { ...status('available'), totalDevices: 2 })).toEqual(['1 devices are listed, but 2 counted']);
  expect(judge.status(0, { ...status('available'), clockSkew: 'a is ahead' })).toEqual([
    'no clock is off, but the pool reports: a is ahead',
  ]);
});
