import { type Clock, formatMicroTime } from '@bowline/machinery';
import { checksumOf } from '../token/checksum.ts';
import { TokenError } from '../token/token-error.ts';
import type { MetadataInput, SecretData, SecretMetadata, TokenService, WriteOptions } from '../token/token-service.ts';
import { answersNeeded, majorityOf } from './choose-winner.ts';
import { askDevices, type Devices, type Reply, targetsOf } from './devices.ts';
import { answerOf, type Copy, isSameAnswer, type Tombstone } from './path-answer.ts';
import { readFromDevices, unanswered } from './read-from-devices.ts';
import { inputOf } from './rewrite-outliers.ts';

/** WriteToDevicesOptions configures a write. */
export interface WriteToDevicesOptions {
  readonly clock: Pick<Clock, 'now'>;
  /**
   * The version to replace; 0 if there must be neither a secret nor a tombstone. Else the write is refused with
   * VersionMismatch. Defaults to any.
   */
  readonly replaces?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** WriteOutcome is the result of a write. */
export interface WriteOutcome {
  readonly version: number;
  readonly timestamp: string;
  /** Undefined for a deletion. */
  readonly checksum: string | undefined;
  /** All devices that should have it; without an error, those that have it. In the order of their serial numbers. */
  readonly devices: readonly { readonly serial: string; readonly error: TokenError | undefined }[];
  /**
   * Whether the write will last: enough devices have it. If not, some devices may have it, and mirroring may either
   * spread or undo it.
   */
  readonly isAcknowledged: boolean;
}

/**
 * writeToDevices writes a secret to every device, with one more than the highest version that any of them has. It
 * rejects, without writing anything, if too few devices can be reached for the write to last.
 */
export async function writeToDevices(
  path: string,
  content: { readonly data: SecretData; readonly metadata: MetadataInput },
  devices: Devices,
  options: WriteToDevicesOptions,
): Promise<WriteOutcome> {
  const { data, metadata } = content;
  const { signal } = options;
  const plan = await planWrite(path, devices, options);
  const target: Copy = { kind: 'copy', ...plan.stamp, checksum: checksumOf(data) };
  return perform(plan, target, devices, signal, (token, writeOptions) =>
    token.write(path, data, metadata, writeOptions, signal),
  );
}

/**
 * removeFromDevices deletes a secret, or one key of it, on every device. It rejects with NotFound if there is nothing to
 * delete.
 */
export async function removeFromDevices(
  path: string,
  key: string | undefined,
  devices: Devices,
  options: WriteToDevicesOptions,
): Promise<WriteOutcome> {
  const { signal } = options;
  if (key !== undefined) return removeKey(path, key, devices, options);
  const plan = await planWrite(path, devices, options);
  if (![...plan.answered.values()].some((metadata) => metadata && !metadata.isDeleted)) {
    if (plan.answered.size < answersNeeded(plan.replies.size)) throw unanswered(path, plan.replies);
    throw new TokenError('NotFound', `the secret ${JSON.stringify(path)} does not exist on the devices`);
  }
  const target: Tombstone = { kind: 'tombstone', ...plan.stamp };
  return perform(plan, target, devices, signal, (token, writeOptions) =>
    token.remove(path, undefined, writeOptions, signal),
  );
}

async function removeKey(
  path: string,
  key: string,
  devices: Devices,
  options: WriteToDevicesOptions,
): Promise<WriteOutcome> {
  const { data, metadata } = await readFromDevices(path, devices, options);
  if (!Object.hasOwn(data, key))
    throw new TokenError('NotFound', `the secret ${JSON.stringify(path)} has no key ${JSON.stringify(key)}`);
  const remaining = Object.fromEntries(Object.entries(data).filter(([each]) => each !== key));
  const { replaces = metadata.version || undefined } = options;
  return writeToDevices(path, { data: remaining, metadata: inputOf(metadata) }, devices, { ...options, replaces });
}

interface WritePlan {
  readonly path: string;
  readonly replies: ReadonlyMap<string, Reply<SecretMetadata | undefined>>;
  /** The devices that answered; undefined for one that has neither the secret nor a tombstone. */
  readonly answered: ReadonlyMap<string, SecretMetadata | undefined>;
  readonly stamp: { readonly version: number; readonly timestamp: string };
}

async function planWrite(path: string, devices: Devices, options: WriteToDevicesOptions): Promise<WritePlan> {
  const { clock, replaces, signal } = options;
  const targets = targetsOf(devices);
  const replies = await askDevices(targets, devices, (token) => metadataAt(token, path, signal), signal);
  const answered = new Map<string, SecretMetadata | undefined>();
  for (const [serial, reply] of replies) if ('value' in reply) answered.set(serial, reply.value);
  if (!isWritable(answered, devices, targets.length)) throw unanswered(path, replies);
  const versions = [...answered.values()].flatMap((metadata) => metadata?.version ?? []);
  const isExpected = replaces === 0 ? versions.length === 0 : versions.length > 0 && Math.max(...versions) === replaces;
  if (replaces !== undefined && !isExpected) {
    const found = versions.length === 0 ? 'does not exist' : `has version ${Math.max(...versions)}`;
    throw new TokenError('VersionMismatch', `the secret ${JSON.stringify(path)} ${found}; read it again`);
  }
  const stamp = { version: Math.max(0, ...versions) + 1, timestamp: formatMicroTime(clock.now()) };
  return { path, replies, answered, stamp };
}

async function metadataAt(
  token: TokenService,
  path: string,
  signal?: AbortSignal,
): Promise<SecretMetadata | undefined> {
  try {
    return await token.metadata(path, signal);
  } catch (error) {
    if (error instanceof TokenError && error.problem === 'NotFound') return undefined;
    throw error;
  }
}

/**
 * isWritable reports whether a write to the devices that answered can last. With three or more devices, a minority would
 * be outvoted by the others when they return.
 */
function isWritable(answered: ReadonlyMap<string, unknown>, { policy, primary }: Devices, targets: number): boolean {
  if (policy !== 'Active') return primary !== undefined && answered.has(primary);
  return answered.size >= (targets >= 3 ? majorityOf(targets) : 1);
}

async function perform(
  plan: WritePlan,
  target: Copy | Tombstone,
  devices: Devices,
  signal: AbortSignal | undefined,
  write: (token: TokenService, options: WriteOptions) => Promise<unknown>,
): Promise<WriteOutcome> {
  const { path, answered, stamp } = plan;
  const call = async (token: TokenService, serial: string): Promise<void> => {
    try {
      await write(token, { ...stamp, replaces: replacesOf(answered.get(serial)) });
    } catch (error) {
      if (!(await hasArrived(error, token, path, target, signal))) throw error;
    }
  };
  const [first, rest] = inOrder([...answered.keys()], devices);
  const replies = new Map<string, Reply<unknown>>([
    ...[...plan.replies].filter(([, reply]) => 'error' in reply),
    ...(await askDevices(first, devices, call, signal)),
  ]);
  const hasPrimary = first.every((serial) => !('error' in (replies.get(serial) ?? {})));
  if (hasPrimary)
    for (const [serial, reply] of await askDevices(rest, devices, call, signal)) replies.set(serial, reply);
  return {
    ...stamp,
    checksum: target.kind === 'copy' ? target.checksum : undefined,
    devices: targetsOf(devices).map((serial) => ({ serial, error: errorOf(replies.get(serial)) })),
    isAcknowledged: isAcknowledged(replies, devices),
  };
}

/** If the primary device decides, it is written first: what it does not have, the others must not have either. */
function inOrder(
  serials: readonly string[],
  { policy, primary }: Devices,
): readonly [readonly string[], readonly string[]] {
  if (policy === 'Active') return [[], serials];
  return [serials.filter((serial) => serial === primary), serials.filter((serial) => serial !== primary)];
}

function replacesOf(metadata: SecretMetadata | undefined): number | undefined {
  if (!metadata) return 0;
  return metadata.version === 0 ? undefined : metadata.version;
}

/** hasArrived reports whether mirroring has already copied the write to the device that refuses it. */
async function hasArrived(
  error: unknown,
  token: TokenService,
  path: string,
  target: Copy | Tombstone,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  if (!(error instanceof TokenError) || error.problem !== 'VersionMismatch') return false;
  const summary = (await token.list(path, signal)).find((each) => each.path === path);
  return summary !== undefined && isSameAnswer(answerOf(summary), target);
}

function errorOf(reply: Reply<unknown> | undefined): TokenError | undefined {
  if (!reply) return new TokenError('Unavailable', 'the primary device did not accept it');
  return 'error' in reply ? reply.error : undefined;
}

/** With one or two devices the last write wins, so one device is enough, unless there was another write. */
function isAcknowledged(replies: ReadonlyMap<string, Reply<unknown>>, devices: Devices): boolean {
  const { policy, primary } = devices;
  const targets = targetsOf(devices);
  const accepted = targets.filter((serial) => replies.has(serial) && !errorOf(replies.get(serial)));
  if (policy !== 'Active') return primary !== undefined && accepted.includes(primary);
  if (targets.length >= 3) return accepted.length >= majorityOf(targets.length);
  const isConcurrent = targets.some((serial) => errorOf(replies.get(serial))?.problem === 'VersionMismatch');
  return accepted.length > 0 && !isConcurrent;
}
