import { askDevices, type Reply } from '../mirror/devices.ts';
import { readFromDevices } from '../mirror/read-from-devices.ts';
import { removeFromDevices, type WriteOutcome, writeToDevices } from '../mirror/write-to-devices.ts';
import { TokenError } from '../token/token-error.ts';
import type { SecretMetadata } from '../token/token-service.ts';
import type { ApiCall, ApiResult, ApiTools } from './api-call.ts';
import { ApiProblem } from './api-problem.ts';
import { type DeviceFailure, deviceResult, partialMessage, requireTargets } from './read-secrets.ts';
import { secretBody } from './secret-body.ts';

/** createSecret writes a secret that must not exist yet. */
export async function createSecret(call: ApiCall, tools: ApiTools): Promise<ApiResult> {
  const { path, body, devices, signal } = call;
  const { data, metadata, replaces } = secretBody(path, body);
  if (replaces !== undefined) throw new ApiProblem(400, 'validation_failed', 'replaces is only for PUT');
  requireWritable(call);
  // Before the check: a secret that is created after it has another version, and this write is then refused.
  const version = await versionAt(call);
  if (await exists(call, tools)) {
    const message = `the secret ${path} exists already; replace it with PUT, or choose another path`;
    throw new ApiProblem(409, 'validation_failed', message);
  }
  const outcome = await writeToDevices(path, { data, metadata }, devices, {
    clock: tools.clock,
    replaces: version,
    signal,
  });
  return written(call, tools, outcome, { status: 201, verb: 'created' });
}

/** replaceSecret writes a secret that must exist. */
export async function replaceSecret(call: ApiCall, tools: ApiTools): Promise<ApiResult> {
  const { path, body, devices, signal } = call;
  const { data, metadata, replaces } = secretBody(path, body);
  requireWritable(call);
  if (!(await exists(call, tools))) {
    const message = `the secret ${path} does not exist; create it with POST`;
    throw new ApiProblem(404, 'secret_not_found', message);
  }
  const outcome = await writeToDevices(path, { data, metadata }, devices, { clock: tools.clock, replaces, signal });
  return written(call, tools, outcome, { status: 200, verb: 'replaced' });
}

/** deleteSecret deletes a secret, or one key of it. */
export async function deleteSecret(call: ApiCall, tools: ApiTools): Promise<ApiResult> {
  const { path, query, devices, signal } = call;
  const key = query.get('key');
  requireWritable(call);
  const outcome = await removeFromDevices(path, key, devices, { clock: tools.clock, signal });
  return written(call, tools, outcome, { status: 200, verb: key === undefined ? 'deleted' : 'changed' });
}

function requireWritable(call: ApiCall): void {
  requireTargets(call);
  if (call.devices.isWritable) return;
  const { primary } = call.devices;
  const message = `secrets of the HSMDevice ${call.deviceKey} cannot be written: its primary device${primary === undefined ? '' : ` ${primary}`} is not available; plug it in, or set mirroring.autoFailover`;
  throw new ApiProblem(503, 'hsm_unavailable', message, { retryAfterSeconds: 5 });
}

async function exists({ path, devices, signal }: ApiCall, { clock }: ApiTools): Promise<boolean> {
  try {
    await readFromDevices(path, devices, { clock, signal });
    return true;
  } catch (error) {
    if (error instanceof TokenError && error.problem === 'NotFound') return false;
    throw error;
  }
}

/** versionAt returns the highest version of a path, also of a tombstone; 0 if there is none. */
async function versionAt(call: ApiCall): Promise<number> {
  const { path, devices, signal } = call;
  const replies: ReadonlyMap<string, Reply<SecretMetadata>> = await askDevices(
    requireTargets(call),
    devices,
    (token) => token.metadata(path, signal),
    signal,
  );
  return Math.max(0, ...[...replies.values()].flatMap((reply) => ('value' in reply ? [reply.value.version] : [])));
}

/** written returns the result of a write: partial if not every device has it, an error if it may not last. */
function written(
  { path, deviceKey, poolKey, user }: ApiCall,
  { log, requestMirror }: ApiTools,
  outcome: WriteOutcome,
  { status, verb }: { readonly status: number; readonly verb: string },
): ApiResult {
  const { version, timestamp, checksum, devices, isAcknowledged } = outcome;
  requestMirror(poolKey);
  const failures = devices.flatMap(({ serial, error }): DeviceFailure[] => (error ? [{ serial, error }] : []));
  const results = devices.map(({ serial }) => deviceResult(serial, failures));
  const partial = failures.length > 0 ? partialMessage(failures, devices.length) : undefined;
  if (!isAcknowledged) {
    log.warn('a write through the API did not reach enough devices', { user, device: deviceKey, path, partial });
    const message = `the secret ${path} was not written to enough devices: ${partial ?? 'no device accepted it'}; retry`;
    throw new ApiProblem(502, 'hsm_write_error', message, { details: { devices: results } });
  }
  log.info('secret changed through the API', { user, device: deviceKey, path, change: verb, version });
  return {
    status: partial === undefined ? status : 206,
    message: partial === undefined ? `the secret ${path} was ${verb}` : `the secret ${path} was ${verb}: ${partial}`,
    data: { path, version, timestamp, checksum, devices: results },
  };
}
