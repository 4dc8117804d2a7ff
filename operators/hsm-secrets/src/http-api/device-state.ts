import type { AgentStatus } from '../agent-protocol/agent-service.ts';
import { askDevices } from '../mirror/devices.ts';
import { mirrorDevices } from '../mirror/mirror-devices.ts';
import type { ApiCall, ApiResult, ApiTools } from './api-call.ts';
import { ApiProblem, invalid } from './api-problem.ts';
import { requireTargets } from './read-secrets.ts';
import { requireKnown } from './secret-body.ts';

/** readInfo returns what the pool of an HSMDevice reports. */
export async function readInfo({ device, deviceKey, pool, devices }: ApiCall): Promise<ApiResult> {
  const agents = new Map((pool?.status?.agents ?? []).map((agent) => [agent.serialNumber, agent]));
  const rows = (pool?.status?.aggregatedDevices ?? []).map((row) => {
    const { ready, reason, tokenLabel } = agents.get(row.serialNumber ?? '') ?? {};
    const { serialNumber, nodeName, available, health, lostSince } = row;
    const role = roleOf(serialNumber, devices);
    return {
      serialNumber,
      nodeName,
      available,
      health,
      lostSince,
      role,
      agentReady: ready ?? false,
      reason,
      tokenLabel,
    };
  });
  const { phase, totalDevices, availableDevices, mirroring } = pool?.status ?? {};
  const data = {
    device: deviceKey,
    deviceType: device.spec.deviceType,
    ...{ phase, totalDevices, availableDevices },
    mirroring: { policy: devices.policy, primary: devices.primary, lastSyncTime: mirroring?.lastSyncTime },
    devices: rows,
  };
  return { message: `the HSMDevice ${deviceKey}`, data };
}

function roleOf(
  serialNumber: string | undefined,
  { primary, expected, policy }: ApiCall['devices'],
): string | undefined {
  if (serialNumber === undefined) return undefined;
  if (serialNumber === primary) return 'Primary';
  return policy !== 'None' && expected.includes(serialNumber) ? 'Mirror' : 'Standby';
}

/** readStatus asks the agent of each device for its state. */
export async function readStatus({ deviceKey, devices, signal }: ApiCall): Promise<ApiResult> {
  const serials = devices.used.map(({ serialNumber }) => serialNumber);
  const { agents } = devices;
  const replies = await askDevices(serials, devices, (_, serial) => statusOf(agents, serial, signal), signal);
  const rows = devices.used.map(({ serialNumber, nodeName, available }) => {
    const reply = replies.get(serialNumber);
    if (!reply || 'error' in reply) {
      const { problem: reason, message } = reply?.error ?? {};
      return { serialNumber, nodeName, available, healthy: false, reason, message };
    }
    const { isLoggedIn, problem, token, isSimulated } = reply.value;
    return {
      ...{ serialNumber, nodeName, available, healthy: isLoggedIn, simulated: isSimulated },
      ...{ reason: problem?.reason, message: problem?.message, tokenLabel: token?.label },
    };
  });
  const healthy = rows.filter((row) => row.healthy).length;
  return {
    message: `${healthy} of ${rows.length} devices of the HSMDevice ${deviceKey} can be used`,
    data: { device: deviceKey, devices: rows },
  };
}

async function statusOf(
  agents: ApiCall['devices']['agents'],
  serial: string,
  signal: AbortSignal,
): Promise<AgentStatus> {
  // Only called for devices that have one.
  return (agents.get(serial) as NonNullable<ReturnType<typeof agents.get>>).service.status(signal);
}

/** retryPin lets each agent that is not logged in try the current PIN once. */
export async function retryPin(call: ApiCall, { agents, log }: ApiTools): Promise<ApiResult> {
  const { deviceKey, user, devices, body, signal } = call;
  requireKnown(body, [], 'the body');
  const serials = devices.used.map(({ serialNumber }) => serialNumber);
  if (serials.length === 0) requireTargets(call);
  const replies = await askDevices(serials, devices, (token) => token.retryPin(signal), signal);
  // The status of the pool follows at once.
  agents.announce(deviceKey);
  log.info('PIN retried through the API', { user, device: deviceKey });
  const rows = serials.map((serialNumber) => {
    const reply = replies.get(serialNumber);
    if (!reply || 'error' in reply)
      return { serialNumber, ok: false, reason: reply?.error.problem, message: reply?.error.message };
    const { isLoggedIn, problem } = reply.value;
    return { serialNumber, ok: isLoggedIn, reason: problem?.reason, message: problem?.message };
  });
  const failed = rows.filter(({ ok }) => !ok);
  if (failed.length === rows.length) {
    const [first] = failed;
    const code = first?.reason?.startsWith('PIN') ? 'pin_refused' : 'hsm_unavailable';
    const message = `no device accepted the PIN; device ${first?.serialNumber}: ${first?.message}`;
    throw new ApiProblem(503, code, message, { details: { devices: rows } });
  }
  return {
    status: failed.length === 0 ? 200 : 206,
    message: `${rows.length - failed.length} of ${rows.length} devices are logged in`,
    data: { device: deviceKey, devices: rows },
  };
}

/** syncMirrors compares all devices now. With `force`, also secrets that may be being written at the moment. */
export async function syncMirrors(call: ApiCall, { clock, log, requestMirror }: ApiTools): Promise<ApiResult> {
  const { deviceKey, poolKey, user, devices, body, signal } = call;
  requireKnown(body, ['force'], 'the body');
  const { force = false } = body;
  if (typeof force !== 'boolean') throw invalid('force must be true or false');
  if (devices.policy === 'None')
    throw invalid(`the HSMDevice ${deviceKey} does not mirror secrets; set mirroring.policy to ReadOnly or Active`);
  const targets = requireTargets(call);
  const result = await mirrorDevices(devices, { clock, signal, ...(force ? { writeMs: 0 } : {}) });
  // The controller compares them again, and updates the status of the pool.
  requestMirror(poolKey);
  log.info('devices compared through the API', { user, device: deviceKey, written: result.synced });
  const { synced, purged, conflicts, errors, errorCount, unreachable } = result;
  const data = {
    ...{ device: deviceKey, synced, purged, conflicts, errors, errorCount },
    devices: targets.map((serialNumber) => ({ serialNumber, ok: !unreachable.includes(serialNumber) })),
  };
  if (unreachable.length === targets.length)
    throw new ApiProblem(503, 'hsm_unavailable', `no device could be compared: ${errors[0] ?? ''}`, {
      details: { devices: data.devices },
    });
  return {
    status: errorCount === 0 ? 200 : 206,
    message: `${synced} copies were written, ${conflicts} secrets had conflicts, ${errorCount} errors`,
    data,
  };
}
