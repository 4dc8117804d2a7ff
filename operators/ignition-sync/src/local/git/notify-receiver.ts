import { createHmac, randomUUID } from 'node:crypto';
import { systemClock } from '@bowline/machinery';
import { BowlineError } from '@bowline/runtime';
import { send } from '../../http/send.ts';

/** PushNotification describes a push to a branch. */
export interface PushNotification {
  /** The address of the receiver for an IgnitionSync. */
  readonly url: string;
  /** The secret that the payload is signed with. */
  readonly secret: string;
  readonly repository: string;
  readonly branch: string;
  readonly before: string;
  readonly after: string;
}

const TIMEOUT_MS = 10_000;

/** notifyReceiver calls the receiver after a push as GitHub does. It throws if the receiver does not accept the call. */
export async function notifyReceiver(push: PushNotification, signal: AbortSignal): Promise<void> {
  const { url, secret, repository, branch, before, after } = push;
  const body = JSON.stringify({
    ref: `refs/heads/${branch}`,
    before,
    after,
    deleted: false,
    repository: { name: repository, full_name: `plant/${repository}` },
    head_commit: { id: after },
  });
  const headers = {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    'x-github-event': 'push',
    'x-github-delivery': randomUUID(),
    'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
  };
  const call = { url: new URL(url), method: 'POST', headers, body, timeoutMs: TIMEOUT_MS } as const;
  const status = await send(call, (answer) => Promise.resolve(answer.status), { signal, wire: systemClock });
  if (status >= 300) {
    throw new BowlineError(
      'BOWLINE_SAMPLE_WEBHOOK',
      `the receiver responded with ${status} to the push of ${after.slice(0, 12)}; the commit arrives with the next poll`,
    );
  }
}
