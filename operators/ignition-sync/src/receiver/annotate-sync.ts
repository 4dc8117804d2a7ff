import { type Client, isConflict, isNotFound } from '@bowline/runtime/client';
import { IgnitionSync } from '../api/ignition-sync.ts';
import type { SyncKey } from './authenticator.ts';
import type { Decision, WebhookTarget } from './decide-request.ts';

/** MAX_ATTEMPTS is how often a write is attempted when the IgnitionSync changes meanwhile. */
export const MAX_ATTEMPTS = 3;

/** AnnotateOptions configures the write. */
export interface AnnotateOptions {
  readonly fieldManager: string;
  readonly signal?: AbortSignal | undefined;
}

/**
 * annotateSync writes the annotations that `decide` returns for the current state of an IgnitionSync. The patch carries
 * uid and resourceVersion: if the IgnitionSync changed meanwhile, it is read again and decided again. Nothing is sent
 * if nothing is requested. Returns the last decision; undefined if the IgnitionSync is gone, was replaced by another,
 * or no longer receives webhooks.
 */
export async function annotateSync(
  client: Pick<Client, 'patch' | 'find'>,
  { namespace, name }: SyncKey,
  target: WebhookTarget,
  decide: (current: WebhookTarget) => Decision,
  { fieldManager, signal }: AnnotateOptions,
): Promise<Decision | undefined> {
  const key = { namespace, name };
  const uid = target.metadata?.uid;
  let current = target;
  for (let attempt = 1; ; attempt++) {
    const decision = decide(current);
    if (decision.outcome !== 'request') return decision;
    const { annotations } = decision;
    const metadata = { uid, resourceVersion: current.metadata?.resourceVersion, annotations };
    try {
      await client.patch(IgnitionSync, key, { type: 'merge', body: { metadata } }, { fieldManager, signal });
      return decision;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      if (!isConflict(error) || attempt >= MAX_ATTEMPTS) throw error;
    }
    const live = await client.find(IgnitionSync, key, { signal });
    if (live?.metadata?.uid !== uid || live?.spec.webhook.enabled !== true) return undefined;
    current = live;
  }
}
