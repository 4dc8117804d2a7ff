import { describe, expect, it } from 'vitest';
import { TokenError } from '../token/token-error.ts';
import type { DeviceState } from './observe-devices.ts';
import { SyncProblem } from './problem.ts';
import { conditionsOf, fieldsOf, type SyncFacts } from './status.ts';

const base = { namespace: 'apps', secretName: 'database' };

function deviceState(serialNumber: string, checksum: string | undefined, version = 1): DeviceState {
  const summary = checksum && { path: 'a', version, timestamp: undefined, isDeleted: false, checksum, keys: [] };
  return { serialNumber, agent: undefined, answer: { summary: summary || undefined } };
}

const failed: DeviceState = {
  serialNumber: 'S9',
  agent: undefined,
  answer: { error: new TokenError('Timeout', 'no answer') },
};
const offline: DeviceState = { serialNumber: 'S8', agent: undefined, answer: undefined };

const consistency = (states: readonly DeviceState[]) =>
  conditionsOf({ ...base, devices: { primary: 'S1', states } }).find(({ type }) => type === 'DevicesConsistent')
    ?.reason;

describe('the status', () => {
  it.each<[string, SyncFacts['problem'], string]>([
    ['InSync', undefined, 'Synced'],
    ['Pending', new SyncProblem('NoAgent', 'no agent'), 'NoAgent'],
    ['Pending', new SyncProblem('DeviceMissing', 'no device'), 'DeviceMissing'],
    ['OutOfSync', new SyncProblem('OutOfSync', 'changed'), 'OutOfSync'],
    ['Error', new SyncProblem('NotFound', 'not found'), 'NotFound'],
  ])('is %s', (syncStatus, problem, reason) => {
    expect(fieldsOf({ ...base, problem })).toMatchObject({ syncStatus, lastError: problem?.message });
    const ready = { status: problem === undefined, reason };
    expect(conditionsOf({ ...base, problem })).toMatchObject([
      { type: 'Ready', ...ready },
      { type: 'Synced', ...ready },
    ]);
  });

  it('keeps what was delivered if nothing was compared', () => {
    const fields = fieldsOf({ ...base, problem: new SyncProblem('NoAgent', 'no agent') });
    for (const field of ['hsmChecksum', 'secretChecksum', 'lastSyncTime', 'lastHandledForceSync', 'deviceSyncStatus'])
      expect(Object.hasOwn(fields, field)).toBe(false);
  });

  it('has a row for each device, by serial number', () => {
    const states = [deviceState('S2', 'sha256:1', 3), deviceState('S1', 'sha256:2'), failed, offline];
    const delivered = { deviceChecksum: 'sha256:1', secretChecksum: 'sha256:1', writtenAt: '2030-01-01T00:00:00Z' };
    expect(fieldsOf({ ...base, devices: { primary: 'S2', states }, delivered })).toMatchObject({
      primaryDevice: 'S2',
      syncConflict: true,
      deviceSyncStatus: [
        { deviceName: 'S1', status: 'OutOfSync', online: true },
        { deviceName: 'S2', status: 'InSync', checksum: 'sha256:1', version: 3, online: true },
        { deviceName: 'S8', status: 'Pending', online: false },
        { deviceName: 'S9', status: 'Error', lastError: 'no answer', online: false },
      ],
    });
  });

  it('reports whether the devices agree', () => {
    const same = [deviceState('S1', 'sha256:1'), deviceState('S2', 'sha256:1')];
    expect(consistency(same)).toBe('Consistent');
    expect(consistency([...same, failed])).toBe('Unknown');
    expect(consistency([...same, offline])).toBe('Unknown');
    expect(consistency([])).toBe('Unknown');
    expect(consistency([...same, deviceState('S3', undefined)])).toBe('Diverged');
    expect(consistency([...same, deviceState('S3', 'sha256:2'), failed])).toBe('Diverged');
  });
});
