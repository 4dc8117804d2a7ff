import type { Clock } from '@bowline/machinery';
import { TokenError } from '../token/token-error.ts';
import type { StoredSecret } from '../token/token-service.ts';
import { answersNeeded, chooseWinner } from './choose-winner.ts';
import { askDevices, type Devices, type Reply, targetsOf } from './devices.ts';
import { answerOf, hasSameContent, type Vote } from './path-answer.ts';
import type { Winner } from './resolve.ts';

/** ReadOptions configures a read. */
export interface ReadOptions {
  readonly clock: Pick<Clock, 'now'>;
  readonly signal?: AbortSignal | undefined;
}

/**
 * readFromDevices returns the current content of a path: that of the primary device, or with the policy Active what the
 * devices agree on. It works as long as one device answers. It rejects with NotFound only if enough devices answered.
 */
export async function readFromDevices(path: string, devices: Devices, options: ReadOptions): Promise<StoredSecret> {
  const { clock, signal } = options;
  const targets = targetsOf(devices);
  const replies = await askDevices(targets, devices, (token) => token.list(path, signal), signal);
  const votes: Vote[] = [];
  let answered = 0;
  for (const [serial, reply] of replies) {
    if ('error' in reply) continue;
    answered++;
    const summary = reply.value.find((each) => each.path === path);
    if (summary) votes.push({ serial, answer: answerOf(summary) });
  }
  const vote = votes.length === 0 ? undefined : chooseVote(votes, devices, targets.length, clock.now());
  if (!vote && answered < answersNeeded(targets.length)) throw unanswered(path, replies);
  if (vote?.answer.kind !== 'copy')
    throw new TokenError('NotFound', `the secret ${JSON.stringify(path)} does not exist on the devices`);
  const same = votes.filter((each) => each !== vote && hasSameContent(each.answer, vote.answer));
  const holders = [vote, ...same].map(({ serial }) => serial);
  const reply = await readWinner(path, { found: vote.answer, holders }, devices, signal);
  if ('error' in reply) throw reply.error;
  return reply.value;
}

function chooseVote(votes: readonly Vote[], { policy, primary }: Devices, devices: number, now: number): Vote {
  const primaryVote = policy === 'Active' ? undefined : votes.find(({ serial }) => serial === primary);
  return primaryVote ?? chooseWinner(votes, devices, now);
}

/** unanswered returns the error for a path about which too few devices have answered. */
export function unanswered(path: string, replies: ReadonlyMap<string, Reply<unknown>>): TokenError {
  const failures = [...replies].flatMap(([serial, reply]) => ('error' in reply ? [{ serial, ...reply }] : []));
  const answered = `${replies.size - failures.length} of ${replies.size} devices answered`;
  const [first] = failures;
  const detail = first ? `${answered}; device ${first.serial}: ${first.error.message}` : 'there is no device';
  return new TokenError('Unavailable', `cannot access the secret ${JSON.stringify(path)}: ${detail}; retry later`);
}

/** readWinner reads the content from the first holder that still has it. */
export async function readWinner(
  path: string,
  { found, holders }: Pick<Winner, 'found' | 'holders'>,
  devices: Pick<Devices, 'tokens'>,
  signal?: AbortSignal,
): Promise<Reply<StoredSecret>> {
  let error = new TokenError('Unavailable', 'no device has it');
  for (const holder of holders) {
    const replies = await askDevices([holder], devices, (token) => token.read(path, signal), signal);
    const reply = replies.get(holder) ?? { error };
    if ('error' in reply) {
      const { problem, message } = reply.error;
      error = new TokenError(problem, `device ${holder} cannot be read: ${message}`, { cause: reply.error });
      continue;
    }
    const { checksum, metadata } = reply.value;
    if (found.kind === 'copy' && metadata.version === found.version && checksum === found.checksum) return reply;
    error = new TokenError('VersionMismatch', `device ${holder} has just changed it; retry`);
  }
  return { error };
}
