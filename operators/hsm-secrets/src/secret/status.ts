import type { ConditionUpdate } from '@bowline/runtime/writing';
import type { HSMSecret } from '../api/hsm-secret.ts';
import type { DeviceState, DeviceStates } from './observe-devices.ts';
import type { SyncProblem } from './problem.ts';
import type { DeviceKey } from './resolve-device.ts';

/** SecretStatus is the status of an HSMSecret. */
export type SecretStatus = NonNullable<HSMSecret['status']>;

/** SyncFacts is everything that a run found out about an HSMSecret. */
export interface SyncFacts {
  readonly namespace: string;
  readonly secretName: string;
  /** Undefined if no HSMDevice was found. */
  readonly device?: DeviceKey | undefined;
  readonly path?: string | undefined;
  /** Undefined if no device was asked. */
  readonly devices?: DeviceStates | undefined;
  /** Why the Secret is not, or may not be, as on the device. */
  readonly problem?: SyncProblem | undefined;
  /** What the Secret holds; undefined if it was not compared. */
  readonly delivered?:
    | {
        /** The checksum of the secret on the device. */
        readonly deviceChecksum: string;
        readonly secretChecksum: string | undefined;
        readonly writtenAt: string | undefined;
      }
    | undefined;
  /** The value of the annotation force-sync that was handled; undefined if none was. */
  readonly handledForceSync?: string | undefined;
}

type Fields = { readonly [K in keyof SecretStatus]?: SecretStatus[K] | undefined };

const MAX_ERROR_LENGTH = 1_024;
/** More devices are not listed. */
const MAX_DEVICES = 64;

/** fieldsOf returns the fields of the status to set. What a run has not found out stays as it is. */
export function fieldsOf(facts: SyncFacts): Fields {
  const { namespace, secretName, device, path, devices, problem, delivered, handledForceSync } = facts;
  return {
    syncStatus: syncStatusOf(problem),
    lastError: problem?.message.slice(0, MAX_ERROR_LENGTH),
    secretRef: { namespace, name: secretName },
    deviceRef: device,
    path,
    ...(delivered
      ? {
          hsmChecksum: delivered.deviceChecksum,
          secretChecksum: delivered.secretChecksum,
          lastSyncTime: delivered.writtenAt,
        }
      : {}),
    ...(devices
      ? {
          primaryDevice: devices.primary,
          deviceSyncStatus: rowsOf(devices, delivered?.deviceChecksum),
          syncConflict: consistencyOf(devices) === 'Diverged',
        }
      : {}),
    ...(handledForceSync === undefined ? {} : { lastHandledForceSync: handledForceSync }),
  };
}

/** conditionsOf returns the conditions of an HSMSecret. */
export function conditionsOf(facts: SyncFacts): readonly ConditionUpdate[] {
  const { problem, secretName, devices } = facts;
  const isSynced = problem === undefined;
  const reason = problem?.reason ?? 'Synced';
  const message = problem?.message ?? `the Secret ${secretName} is as on the device`;
  return [
    { type: 'Ready', status: isSynced, reason, message },
    { type: 'Synced', status: isSynced, reason, message },
    ...(devices ? [devicesConsistent(devices)] : []),
  ];
}

function devicesConsistent(devices: DeviceStates): ConditionUpdate {
  const consistency = consistencyOf(devices);
  const of = (status: boolean | 'Unknown', message: string): ConditionUpdate => ({
    type: 'DevicesConsistent',
    status,
    reason: consistency,
    message,
  });
  if (consistency === 'Consistent') return of(true, 'all devices have the same content');
  if (consistency === 'Unknown') return of('Unknown', 'not all devices have answered');
  return of(false, 'the devices have different content; mirroring decides which one is kept');
}

function consistencyOf({ states }: DeviceStates): 'Consistent' | 'Diverged' | 'Unknown' {
  const answers = states.flatMap(({ answer }) => (answer && 'summary' in answer ? [checksumIn(answer.summary)] : []));
  if (new Set(answers).size > 1) return 'Diverged';
  return answers.length === states.length && states.length > 0 ? 'Consistent' : 'Unknown';
}

type Row = NonNullable<SecretStatus['deviceSyncStatus']>[number];

/** rowsOf returns a row for each device, by serial number. */
function rowsOf({ states }: DeviceStates, deviceChecksum: string | undefined): readonly Row[] {
  const byName = (a: Row, b: Row): number => (a.deviceName < b.deviceName ? -1 : 1);
  return states
    .map((state) => rowOf(state, deviceChecksum))
    .sort(byName)
    .slice(0, MAX_DEVICES);
}

function rowOf({ serialNumber: deviceName, answer }: DeviceState, deviceChecksum: string | undefined): Row {
  if (!answer) return { deviceName, status: 'Pending', online: false };
  if ('error' in answer) {
    const lastError = answer.error.message.slice(0, MAX_ERROR_LENGTH);
    return { deviceName, status: 'Error', lastError, online: false };
  }
  const { summary } = answer;
  const checksum = checksumIn(summary);
  const isSame = checksum !== undefined && checksum === deviceChecksum;
  return {
    deviceName,
    status: isSame ? 'InSync' : 'OutOfSync',
    online: true,
    ...(checksum === undefined ? {} : { checksum }),
    ...(summary ? { version: summary.version } : {}),
  };
}

type Summary = Extract<NonNullable<DeviceState['answer']>, { readonly summary: unknown }>['summary'];

function checksumIn(summary: Summary): string | undefined {
  return summary?.isDeleted ? undefined : summary?.checksum;
}

function syncStatusOf(problem: SyncProblem | undefined): SecretStatus['syncStatus'] {
  if (!problem) return 'InSync';
  if (problem.reason === 'OutOfSync') return 'OutOfSync';
  return problem.isPending ? 'Pending' : 'Error';
}
