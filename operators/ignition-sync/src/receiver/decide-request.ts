import { formatTime } from '@bowline/machinery';
import type { IgnitionSync } from '../api/ignition-sync.ts';
import { CR_ANNOTATIONS } from '../api/names.ts';
import type { PushPayload, RefPayload } from './payload.ts';

/** WebhookTarget is what the receiver needs of an IgnitionSync. */
export interface WebhookTarget extends Pick<IgnitionSync, 'metadata'> {
  readonly spec: {
    readonly git: Pick<IgnitionSync['spec']['git'], 'ref'>;
    readonly webhook: Pick<IgnitionSync['spec']['webhook'], 'enabled' | 'secretRef'>;
  };
}

/** Decision is what a payload changes about an IgnitionSync. */
export type Decision =
  | { readonly outcome: 'request'; readonly ref: string; readonly annotations: Readonly<Record<string, string>> }
  | { readonly outcome: 'unchanged'; readonly ref: string }
  | { readonly outcome: 'ignored'; readonly message: string };

/** effectiveRef returns the ref that an IgnitionSync follows: the requested one takes precedence. */
export function effectiveRef({ metadata, spec }: WebhookTarget): string {
  return metadata?.annotations?.[CR_ANNOTATIONS.requestedRef] || spec.git.ref;
}

/** decideRequest returns what a payload changes about an IgnitionSync. A push never changes the ref. */
export function decideRequest(payload: RefPayload | PushPayload, target: WebhookTarget, now: number): Decision {
  return payload.kind === 'ref' ? decideRef(payload, target, now) : decidePush(payload, target, now);
}

function decideRef({ ref, isBranch, source }: RefPayload, target: WebhookTarget, now: number): Decision {
  const current = effectiveRef(target);
  if (current === ref || current === `refs/${isBranch ? 'heads' : 'tags'}/${ref}`) return { outcome: 'unchanged', ref };
  const annotations = {
    [CR_ANNOTATIONS.requestedRef]: ref,
    [CR_ANNOTATIONS.requestedAt]: formatTime(now),
    [CR_ANNOTATIONS.requestedBy]: source,
  };
  return { outcome: 'request', ref, annotations };
}

function decidePush({ heads }: PushPayload, target: WebhookTarget, now: number): Decision {
  const current = effectiveRef(target);
  const head = heads.find(({ branch }) => current === branch || current === `refs/heads/${branch}`);
  if (!head) return { outcome: 'ignored', message: 'the pushed branch is not the one that is synced' };
  const { branch, commit } = head;
  if (target.metadata?.annotations?.[CR_ANNOTATIONS.requestedCommit] === commit)
    return { outcome: 'unchanged', ref: branch };
  const annotations = {
    [CR_ANNOTATIONS.requestedCommit]: commit,
    [CR_ANNOTATIONS.requestedAt]: formatTime(now),
  };
  return { outcome: 'request', ref: branch, annotations };
}
