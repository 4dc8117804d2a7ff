import type { ChecksumAnswer, ChecksumRequest, ChecksumRounds } from './checksum-rounds.ts';
import type { DeviceSource, DeviceSources } from './device-sources.ts';
import { SyncProblem } from './problem.ts';

/** DeviceState is what a device answered about a path. The answer is undefined if there is no agent to ask. */
export interface DeviceState extends DeviceSource {
  readonly answer: ChecksumAnswer | undefined;
}

/** DeviceStates is what all devices answered about a path, the preferred one first. */
export interface DeviceStates {
  readonly primary: string | undefined;
  readonly states: readonly DeviceState[];
}

/** observeDevices asks all devices for the checksum of a path. */
export async function observeDevices(
  { primary, sources }: DeviceSources,
  rounds: ChecksumRounds,
  request: ChecksumRequest,
): Promise<DeviceStates> {
  const states = sources.map(async (source): Promise<DeviceState> => {
    return { ...source, answer: source.agent && (await rounds.ask(source.agent, request)) };
  });
  return { primary, states: await Promise.all(states) };
}

/** AnsweredDevice is a device that has the secret. */
export interface AnsweredDevice extends DeviceState {
  readonly agent: NonNullable<DeviceState['agent']>;
  readonly checksum: string;
}

/** chooseSource returns the device to read from: the preferred one that answered. */
export function chooseSource(path: string, { states }: DeviceStates): AnsweredDevice | SyncProblem {
  for (const state of states) {
    const { answer, agent, serialNumber } = state;
    if (!agent || !answer || 'error' in answer) continue;
    const checksum = answer.summary?.isDeleted ? undefined : answer.summary?.checksum;
    if (checksum !== undefined) return { ...state, agent, checksum };
    return notFound(path, serialNumber);
  }
  for (const { answer, serialNumber } of states) {
    if (answer && 'error' in answer)
      return new SyncProblem('AgentFailed', `the agent of the device ${serialNumber} failed: ${answer.error.message}`);
  }
  return new SyncProblem(
    'NoAgent',
    states.length === 0
      ? 'the HSMDevice has no device that can be read; see the status of its HSMPool'
      : `no agent is running for the available devices (${states.map(({ serialNumber }) => serialNumber).join(', ')}); see the status of the HSMPool`,
  );
}

/** notFound returns the problem of a path that a device does not have. */
export function notFound(path: string, serialNumber: string): SyncProblem {
  return new SyncProblem(
    'NotFound',
    `the device ${serialNumber} has no secret ${path}; create it, or correct spec.path`,
  );
}
