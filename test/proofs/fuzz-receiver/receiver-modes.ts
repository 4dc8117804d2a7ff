import type { Log } from '@bowline/runtime';
import { silentLog } from '@bowline/runtime/manager';
import type { ReceiverSecrets, SyncKey } from '../../../operators/ignition-sync/src/receiver/authenticator.ts';
import type { WebhookTarget } from '../../../operators/ignition-sync/src/receiver/decide-request.ts';
import { sharedSecret } from '../../../operators/ignition-sync/src/receiver/shared-secret.ts';
import { WebhookHandler } from '../../../operators/ignition-sync/src/receiver/webhook-handler.ts';

/** SECRETS are the secrets of receivers. None of them may appear in a response. */
export const SECRETS = {
  hmac: 'global-hmac-secret-7f3a',
  token: 'global-bearer-token-91bc',
  own: 'own-secret-of-the-sync-55d0',
} as const;

/** Mode is how a receiver authenticates. */
export interface Mode {
  readonly name: string;
  readonly hasHmac: boolean;
  readonly hasToken: boolean;
  readonly allowUnauthenticated: boolean;
}

/** MODES are all ways in which receivers authenticate. */
export const MODES: readonly Mode[] = [
  { name: 'both', hasHmac: true, hasToken: true, allowUnauthenticated: false },
  { name: 'hmac', hasHmac: true, hasToken: false, allowUnauthenticated: true },
  { name: 'token', hasHmac: false, hasToken: true, allowUnauthenticated: false },
  { name: 'none', hasHmac: false, hasToken: false, allowUnauthenticated: false },
  { name: 'open', hasHmac: false, hasToken: false, allowUnauthenticated: true },
];

/** SyncState describes one IgnitionSync of the proof. */
export interface SyncState {
  readonly isEnabled: boolean;
  readonly hasSecretRef: boolean;
  /** Whether its secret has been read. */
  readonly isReadable: boolean;
}

/** SYNCS are the IgnitionSyncs, all in the namespace plant. */
export const SYNCS: Readonly<Record<string, SyncState>> = {
  site: { isEnabled: true, hasSecretRef: false, isReadable: false },
  own: { isEnabled: true, hasSecretRef: true, isReadable: true },
  pending: { isEnabled: true, hasSecretRef: true, isReadable: false },
  off: { isEnabled: false, hasSecretRef: true, isReadable: true },
};

/** Write is what a receiver wrote. */
export interface Write {
  readonly key: SyncKey;
  readonly annotations: Readonly<Record<string, string>>;
}

/** FuzzedReceiver is the handler of one mode. */
export interface FuzzedReceiver {
  readonly mode: Mode;
  readonly handler: WebhookHandler;
  /** The writes since they were last taken. */
  takeWrites(): readonly Write[];
  /** The errors that were logged since they were last taken. */
  takeErrors(): readonly string[];
}

/** fuzzedReceiver returns the handler of a mode. Its clock is that of the proof. */
export function fuzzedReceiver(mode: Mode, clock: { now(): number; monotonic(): number }): FuzzedReceiver {
  const writes: Write[] = [];
  const errors: string[] = [];
  const syncs = new Map(Object.entries(SYNCS).map(([name, state]) => [`plant/${name}`, targetOf(name, state)]));
  const [hmac, token, own] = [sharedSecret(SECRETS.hmac), sharedSecret(SECRETS.token), sharedSecret(SECRETS.own)];
  const secrets: ReceiverSecrets = {
    hmac: () => (mode.hasHmac ? hmac : undefined),
    token: () => (mode.hasToken ? token : undefined),
    ofSync: ({ namespace, name }) => (namespace === 'plant' && stateOf(name)?.isReadable ? own : undefined),
  };
  const log: Log = { ...silentLog, error: (_, fields) => errors.push(String(fields?.error)) };
  const handler = new WebhookHandler({
    findSync: ({ namespace, name }) => syncs.get(`${namespace}/${name}`),
    secrets,
    annotate: (key, target, decide) => {
      const decision = decide(target);
      if (decision.outcome === 'request') {
        const { annotations } = decision;
        writes.push({ key, annotations });
        const metadata = { ...target.metadata, annotations: { ...target.metadata?.annotations, ...annotations } };
        syncs.set(`${key.namespace}/${key.name}`, { ...target, metadata });
      }
      return Promise.resolve(decision);
    },
    clock,
    log,
    metrics: { counter: () => ({ add: () => undefined }) },
    allowUnauthenticated: mode.allowUnauthenticated,
  });
  return { mode, handler, takeWrites: () => writes.splice(0), takeErrors: () => errors.splice(0) };
}

/** stateOf returns an IgnitionSync of the namespace plant. */
export function stateOf(name: string): SyncState | undefined {
  return Object.hasOwn(SYNCS, name) ? SYNCS[name] : undefined;
}

function targetOf(name: string, { isEnabled, hasSecretRef }: SyncState): WebhookTarget {
  const secretRef = hasSecretRef ? { secretRef: { name: 'hook', key: 'secret' } } : {};
  return {
    metadata: { namespace: 'plant', name, uid: `uid-${name}`, resourceVersion: '1', annotations: {} },
    spec: { git: { ref: 'main' }, webhook: { enabled: isEnabled, ...secretRef } },
  };
}
