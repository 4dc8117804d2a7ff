import type { Client, WriteGuard } from '../client/client.ts';
import { type LiveClient, RecordingClient, type WriteRecorder } from '../controller/live-client.ts';
import { BowlineError } from '../errors/bowline-error.ts';
import type { Webhook } from './webhook.ts';

/**
 * WebhookClients creates the clients of handlers. The declared side effects are not only a promise to the API server: a
 * write that they do not cover is refused before it is sent.
 */
export class WebhookClients {
  readonly #client: Client;
  readonly #readOnly: Client;
  readonly #recorder: WriteRecorder;

  constructor(client: Client, recorder: WriteRecorder) {
    this.#client = client;
    this.#readOnly = client.guarded(noWrites);
    this.#recorder = recorder;
  }

  /** for returns the client of one request, bound to its signal. */
  for(webhook: Pick<Webhook, 'sideEffects'>, dryRun: boolean, signal: AbortSignal): LiveClient {
    const mayWrite = webhook.sideEffects === 'NoneOnDryRun' && !dryRun;
    return new RecordingClient(mayWrite ? this.#client : this.#readOnly, this.#recorder, signal);
  }
}

const noWrites: WriteGuard = {
  // Never used: no write starts.
  writeTimeoutMs: 1,
  assertMayWrite() {
    throw new BowlineError(
      'BOWLINE_WEBHOOK_SIDE_EFFECT',
      'this webhook must not write: it declares no side effects, or the request is a dry run; write in a controller instead',
    );
  },
};
