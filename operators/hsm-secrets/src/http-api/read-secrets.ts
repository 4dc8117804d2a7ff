import { chooseWinner } from '../mirror/choose-winner.ts';
import { askDevices, targetsOf } from '../mirror/devices.ts';
import { answerOf } from '../mirror/path-answer.ts';
import { readFromDevices } from '../mirror/read-from-devices.ts';
import type { TokenError } from '../token/token-error.ts';
import type { SecretMetadata, SecretSummary } from '../token/token-service.ts';
import type { ApiCall, ApiResult, ApiTools } from './api-call.ts';
import { ApiProblem, problemOf } from './api-problem.ts';

/** listSecrets returns the secrets below a prefix, without their values. It is partial if not all devices answered. */
export async function listSecrets(call: ApiCall, { clock }: ApiTools): Promise<ApiResult> {
  const { devices, query, signal } = call;
  const prefix = query.get('prefix') ?? '';
  const targets = requireTargets(call);
  const replies = await askDevices(targets, devices, (token) => token.list(prefix, signal), signal);
  const failures = [...replies].flatMap(([serial, reply]) =>
    'error' in reply ? [{ serial, error: reply.error }] : [],
  );
  if (failures.length === replies.size) throw unavailable(failures);
  const found = new Map<string, { readonly serial: string; readonly summary: SecretSummary }[]>();
  for (const [serial, reply] of replies) {
    if ('error' in reply) continue;
    for (const summary of reply.value)
      found.set(summary.path, [...(found.get(summary.path) ?? []), { serial, summary }]);
  }
  const secrets = [...found.values()]
    .map((copies) => currentOf(copies, call, targets.length, clock.now()))
    .filter(({ isDeleted }) => !isDeleted)
    .sort((a, b) => (a.path < b.path ? -1 : 1))
    .map(({ path, version, timestamp, checksum, keys }) => ({ path, version, timestamp, checksum, keys }));
  const message = failures.length === 0 ? `${secrets.length} secrets` : partialMessage(failures, replies.size);
  return {
    status: failures.length === 0 ? 200 : 206,
    message,
    data: { secrets, devices: targets.map((serial) => deviceResult(serial, failures)) },
  };
}

/** readSecret returns a secret with its values, in base64. */
export async function readSecret({ path, devices, signal }: ApiCall, { clock }: ApiTools): Promise<ApiResult> {
  const { data: values, metadata, checksum } = await readFromDevices(path, devices, { clock, signal });
  const data = Object.fromEntries(Object.entries(values).map(([key, value]) => [key, value.toString('base64')]));
  return { message: `the secret ${path}`, data: { path, data, checksum, ...describe(metadata) } };
}

/** readMetadata returns the metadata of a secret. */
export async function readMetadata({ path, devices, signal }: ApiCall, { clock }: ApiTools): Promise<ApiResult> {
  const { data, metadata, checksum } = await readFromDevices(path, devices, { clock, signal });
  const keys = Object.keys(data).sort();
  return { message: `the metadata of the secret ${path}`, data: { path, keys, checksum, ...describe(metadata) } };
}

/** readChecksum returns the checksum of a secret, and that of each device. */
export async function readChecksum(call: ApiCall, { clock }: ApiTools): Promise<ApiResult> {
  const { path, devices, signal } = call;
  const targets = requireTargets(call);
  const { metadata, checksum } = await readFromDevices(path, devices, { clock, signal });
  const replies = await askDevices(targets, devices, (token) => token.list(path, signal), signal);
  const perDevice = targets.map((serialNumber) => {
    const reply = replies.get(serialNumber);
    if (!reply || 'error' in reply) return { serialNumber, error: reply && errorOf(reply.error) };
    const copy = reply.value.find((summary) => summary.path === path);
    return { serialNumber, version: copy?.version, checksum: copy?.checksum };
  });
  return {
    message: `the checksum of the secret ${path}`,
    data: { path, checksum, version: metadata.version, devices: perDevice },
  };
}

/** requireTargets returns the devices that hold the secrets; it throws if there is none. */
export function requireTargets({ devices, deviceKey }: ApiCall): readonly string[] {
  const targets = targetsOf(devices);
  if (targets.length > 0) return targets;
  const message = `the HSMDevice ${deviceKey} has no device that can be used; see the status of its HSMPool`;
  throw new ApiProblem(503, 'hsm_unavailable', message, { retryAfterSeconds: 5 });
}

/** DeviceFailure is a device that could not do what was asked. */
export interface DeviceFailure {
  readonly serial: string;
  readonly error: TokenError;
}

/** deviceResult describes what became of a request on one device. */
export function deviceResult(
  serialNumber: string,
  failures: readonly DeviceFailure[],
): Readonly<Record<string, unknown>> {
  const failure = failures.find(({ serial }) => serial === serialNumber);
  return failure ? { serialNumber, ok: false, error: errorOf(failure.error) } : { serialNumber, ok: true };
}

/** partialMessage names the devices that failed. */
export function partialMessage(failures: readonly DeviceFailure[], total: number): string {
  const [first] = failures;
  const named = failures.map(({ serial }) => serial).join(', ');
  return `${total - failures.length} of ${total} devices succeeded; not ${named}: ${first?.error.message ?? ''}`;
}

/** unavailable returns the problem of a request that every device failed: that of the first one, with all named. */
function unavailable(failures: readonly DeviceFailure[]): ApiProblem {
  const [first] = failures;
  const problem = problemOf(first?.error, true);
  const details = { devices: failures.map(({ serial }) => deviceResult(serial, failures)) };
  const { status = 503, code = 'hsm_unavailable', retryAfterSeconds } = problem ?? {};
  const message = `no device answered; device ${first?.serial}: ${first?.error.message}`;
  return new ApiProblem(status, code, message, { details, retryAfterSeconds });
}

function errorOf({ problem, message }: TokenError): { readonly reason: string; readonly message: string } {
  return { reason: problem, message };
}

function describe({ version, timestamp, createdAt, ...metadata }: SecretMetadata): Readonly<Record<string, unknown>> {
  const { description, labels, format, dataType, source } = metadata;
  return { version, timestamp, createdAt, metadata: { description, labels, format, dataType, source } };
}

/** currentOf returns the copy of a path that a read returns. */
function currentOf(
  copies: readonly { readonly serial: string; readonly summary: SecretSummary }[],
  { devices: { policy, primary } }: ApiCall,
  targets: number,
  now: number,
): SecretSummary {
  const votes = copies.map(({ serial, summary }) => ({ serial, answer: answerOf(summary) }));
  const ofPrimary = policy === 'Active' ? undefined : copies.find(({ serial }) => serial === primary);
  const winner = ofPrimary?.serial ?? chooseWinner(votes, targets, now).serial;
  // The winner is one of the copies.
  return copies.find(({ serial }) => serial === winner)?.summary as SecretSummary;
}
