import { createHmac } from 'node:crypto';
import { VirtualClock } from '@bowline/machinery';
import type { Counter, Log } from '@bowline/runtime';
import { silentLog } from '@bowline/runtime/manager';
import type { ReceiverSecrets, SyncKey } from './authenticator.ts';
import type { Decision, WebhookTarget } from './decide-request.ts';
import { type SharedSecret, sharedSecret } from './shared-secret.ts';
import { WebhookHandler, type WebhookHandlerOptions } from './webhook-handler.ts';

/** HMAC is the secret of all IgnitionSyncs in tests. */
export const HMAC = 'global-secret';
/** TOKEN is the bearer token in tests. */
export const TOKEN = 'bearer-token';
/** OWN is the secret of one IgnitionSync in tests. */
export const OWN = 'own-secret';
/** COMMIT is a commit with all its digits. */
export const COMMIT = '1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d';

/** signed returns the hex digits of the signature of a body. */
export function signed(body: string | Uint8Array, secret: string = HMAC): string {
  return createHmac('sha256', secret).update(body).digest('hex');
}

/** secretOf returns a secret that is not empty. */
export function secretOf(value: string): SharedSecret {
  const secret = sharedSecret(value);
  if (!secret) throw new Error('the secret is empty');
  return secret;
}

/** WorldOptions configures a handler. */
export interface WorldOptions
  extends Partial<
    Pick<WebhookHandlerOptions, 'allowUnauthenticated' | 'acceptDuplicatesWith' | 'rateLimit' | 'annotate'>
  > {
  /** Defaults to HMAC. Null: none. */
  readonly hmac?: string | null;
  /** Defaults to none. */
  readonly token?: string;
}

/** ReceiverWorld is a handler with the IgnitionSyncs that it receives webhooks for. */
export interface ReceiverWorld {
  readonly handler: WebhookHandler;
  readonly clock: VirtualClock;
  /** By `namespace/name`. */
  readonly syncs: Map<string, WebhookTarget>;
  readonly own: Map<string, SharedSecret>;
  /** The lookups and the writes, in order. */
  readonly calls: string[];
  /** The annotations of all writes. */
  readonly written: Readonly<Record<string, string>>[];
  /** By `source code`. */
  readonly counts: Map<string, number>;
  /** The messages of errors in the log. */
  readonly errors: string[];
}

/** sync returns an IgnitionSync that follows main. */
export function sync(more: { ref?: string; enabled?: boolean; hasSecret?: boolean } = {}): WebhookTarget {
  const { ref = 'main', enabled = true, hasSecret = false } = more;
  return {
    metadata: { namespace: 'plant', name: 'site', uid: 'uid-1', resourceVersion: '1', annotations: {} },
    spec: { git: { ref }, webhook: { enabled, ...(hasSecret ? { secretRef: { name: 'hook', key: 'secret' } } : {}) } },
  };
}

/** receiverWorld returns a handler for the IgnitionSync plant/site, which keeps what is written. */
export function receiverWorld({ hmac = HMAC, token, ...options }: WorldOptions = {}): ReceiverWorld {
  const clock = new VirtualClock();
  const world = {
    clock,
    syncs: new Map([['plant/site', sync()]]),
    own: new Map<string, SharedSecret>(),
    calls: [] as string[],
    written: [] as Readonly<Record<string, string>>[],
    counts: new Map<string, number>(),
    errors: [] as string[],
  };
  const { syncs, own, calls, written, counts } = world;
  const globalSecret = hmac === null ? undefined : secretOf(hmac);
  const bearer = token === undefined ? undefined : secretOf(token);
  const secrets: ReceiverSecrets = {
    hmac: () => globalSecret,
    token: () => bearer,
    ofSync: (key) => own.get(pathOf(key)),
  };
  const annotate = (
    key: SyncKey,
    target: WebhookTarget,
    decide: (current: WebhookTarget) => Decision,
  ): Promise<Decision | undefined> => {
    const decision = decide(target);
    if (decision.outcome === 'request') {
      calls.push(`write ${pathOf(key)}`);
      written.push(decision.annotations);
      const annotations = { ...target.metadata?.annotations, ...decision.annotations };
      syncs.set(pathOf(key), { ...target, metadata: { ...target.metadata, annotations } });
    }
    return Promise.resolve(decision);
  };
  const received: Counter = {
    add: ({ source, code } = {}, amount = 1) => {
      counts.set(`${source} ${code}`, (counts.get(`${source} ${code}`) ?? 0) + amount);
    },
  };
  const log: Log = { ...silentLog, error: (message) => world.errors.push(message) };
  const handler = new WebhookHandler({
    findSync: (key) => {
      calls.push(`find ${pathOf(key)}`);
      return syncs.get(pathOf(key));
    },
    secrets,
    annotate,
    clock,
    log,
    metrics: { counter: () => received },
    ...options,
  });
  return { ...world, handler };
}

function pathOf({ namespace, name }: SyncKey): string {
  return `${namespace}/${name}`;
}
