import { expect, it } from 'vitest';
import type { PodRow } from '../api/hsm-pool.ts';
import { type PhaseInput, phaseOf } from './phase.ts';

function row(discoveryStatus: PodRow['discoveryStatus'], fresh = true): PodRow {
  const observedTime = '2025-08-19T10:00:00Z';
  return { podName: 'p', podUID: 'u', nodeName: 'n', devicesFound: 0, observedTime, discoveryStatus, fresh };
}

const input = (change: Partial<PhaseInput>): PhaseInput => ({
  hasDevice: true,
  pods: [row('completed'), row('completed')],
  expectedPods: 2,
  poolAgeMs: 1_000,
  gracePeriodMs: 300_000,
  ...change,
});

it.each<readonly [string, Partial<PhaseInput>]>([
  ['Error', { hasDevice: false }],
  ['Error', { pods: [row('error'), row('error')] }],
  ['Error', { pods: [row('error'), row('completed', false)] }],
  ['Pending', { pods: [] }],
  ['Ready', {}],
  ['Ready', { pods: [row('completed'), row('completed'), row('error')] }],
  ['Partial', { expectedPods: 0 }],
  ['Aggregating', { pods: [row('completed')] }],
  ['Aggregating', { pods: [row('completed'), row('discovering')], poolAgeMs: 300_000 }],
  ['Partial', { pods: [row('completed')], poolAgeMs: 300_000 }],
  ['Partial', { pods: [row('completed'), row('error')] }],
  ['Partial', { pods: [row('completed'), row('completed', false)] }],
])('is %s for %j', (phase, change) => {
  expect(phaseOf(input(change))).toBe(phase);
});
