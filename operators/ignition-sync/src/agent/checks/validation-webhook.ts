import { type Clock, isObject, parseDuration } from '@bowline/machinery';
import type { Change } from '../../engine/sync/sync-request.ts';
import { codeOf, readText, send } from '../../http/send.ts';
import { AgentError } from '../agent-error.ts';

/** ValidationRequest is what the validation webhook is asked about. */
export interface ValidationRequest {
  readonly cr: string;
  readonly namespace: string;
  readonly gateway: string;
  /** The commit that the gateway has. Undefined before the first sync. */
  readonly fromCommit: string | undefined;
  readonly toCommit: string;
  readonly ref: string;
  readonly changes: readonly Change[];
}

/** MAX_CHANGES is the maximum number of changes that are sent. */
export const MAX_CHANGES = 1_000;
const MAX_RESPONSE_BYTES = 64 * 1024;
const MAX_REASON_LENGTH = 200;
// biome-ignore lint/suspicious/noControlCharactersInRegex: exactly these are replaced.
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/g;

/**
 * validateChanges asks a service of the user whether a sync may take place. It rejects with ValidationRefused for any answer but
 * 2xx, for `{"allowed": false, "reason": …}`, and without an answer: a check that cannot be made is not passed.
 */
export async function validateChanges(
  { url, timeout }: { readonly url: string; readonly timeout: string },
  request: ValidationRequest,
  options: { readonly signal: AbortSignal; readonly wire: Clock },
): Promise<void> {
  const { changes, ...about } = request;
  const listed = changes.slice(0, MAX_CHANGES).map(({ path, action }) => ({ path, action }));
  const body = JSON.stringify({ ...about, changes: listed });
  const address = new URL(url);
  const refuse = (problem: string, cause?: unknown): AgentError =>
    new AgentError('ValidationRefused', `the validation webhook at ${address.host} ${problem}`, { cause });
  const headers = { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) };
  let result: { readonly status: number; readonly text: string };
  try {
    result = await send(
      { url: address, method: 'POST', headers, body, timeoutMs: parseDuration(timeout) },
      async (answer) => ({ status: answer.status, text: await readText(answer, MAX_RESPONSE_BYTES) }),
      options,
    );
  } catch (error) {
    options.signal.throwIfAborted();
    throw refuse(`did not answer (${codeOf(error)}); check validation.webhook.url and the service behind it`);
  }
  const answer = parse(result.text);
  const reason =
    typeof answer?.reason === 'string' ? answer.reason.replace(CONTROL, ' ').slice(0, MAX_REASON_LENGTH) : '';
  if (result.status < 200 || result.status > 299)
    throw refuse(`answered with HTTP status ${result.status}${reason === '' ? '' : `: ${reason}`}`);
  if (answer?.allowed === false) throw refuse(`refused the sync: ${reason === '' ? 'it gave no reason' : reason}`);
}

function parse(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
