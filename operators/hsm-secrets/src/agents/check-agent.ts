import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { DeviceAgent } from '../agent-client/agent-directory.ts';
import type { AgentStatus } from '../agent-protocol/agent-service.ts';
import { TokenError } from '../token/token-error.ts';

/** CurrentPin is the PIN in the Secret of an HSMDevice. */
export interface CurrentPin {
  /** The resourceVersion of the Secret. */
  readonly version: string;
  /** Zeroed by its reader. */
  readonly value: Buffer;
}

/** AgentCheck is what a call of an agent found out. */
export interface AgentCheck {
  readonly isReady: boolean;
  /** Why it is not ready: a reason of a condition. */
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
  readonly tokenLabel?: string | undefined;
  readonly tokenSerial?: string | undefined;
  /** The version of the PIN Secret that must not be tried again. */
  readonly refusedPin?: string | undefined;
  /** Whether the PIN is to be tried once more, after `refusedPin` was written to the status. */
  readonly wantsRetry?: boolean | undefined;
  readonly wasProvisioned?: boolean | undefined;
}

/** AgentCheckOptions configures the check of an agent. */
export interface AgentCheckOptions {
  /** The version of the PIN Secret that the status records as refused. */
  readonly refusedPin: string | undefined;
  /** Whether a retry was recorded in the status and is now due. */
  readonly isRetryDue: boolean;
  /** readPin reads the current PIN; undefined if it does not exist. */
  readonly readPin: () => Promise<CurrentPin | undefined>;
  readonly signal: AbortSignal;
}

/**
 * checkAgent asks an agent for the state of its token. An uncertain PIN, where a wrong one was entered since the last
 * login, is tried at most once per version of its Secret: the version is recorded as refused before the attempt, so
 * that a manager that is killed in between does not try again.
 */
export async function checkAgent(agent: DeviceAgent, options: AgentCheckOptions): Promise<AgentCheck> {
  const { signal, refusedPin, isRetryDue } = options;
  try {
    const status = isRetryDue ? await agent.service.retryPin(signal) : await agent.service.status(signal);
    const known = factsOf(status);
    if (!status.problem) return { ...known, isReady: status.isLoggedIn };
    const { reason, message } = status.problem;
    const failed: AgentCheck = { ...known, isReady: false, reason, message, refusedPin };
    if (reason !== 'PINIncorrect' && reason !== 'PINUncertain') return failed;
    const version = await sharedPinVersion(agent, options);
    if (version === undefined || version === refusedPin) return failed;
    return { ...failed, refusedPin: version, wantsRetry: reason === 'PINUncertain' };
  } catch (error) {
    if (!(error instanceof TokenError)) throw error;
    return { isReady: false, reason: 'AgentNotReady', message: error.message, refusedPin };
  }
}

function factsOf({ token, wasProvisioned }: AgentStatus): Partial<AgentCheck> {
  return { tokenLabel: token?.label, tokenSerial: token?.serialNumber, wasProvisioned };
}

/**
 * sharedPinVersion returns the version of the PIN Secret if the agent has its PIN: kubelet may not have updated the file
 * yet. The PIN itself is not sent, and no hash of it is stored, because a short PIN could be guessed from it.
 */
async function sharedPinVersion(
  { service }: DeviceAgent,
  { readPin, signal }: AgentCheckOptions,
): Promise<string | undefined> {
  const pin = await readPin();
  if (!pin) return undefined;
  const nonce = randomBytes(32);
  const expected = createHmac('sha256', pin.value).update(nonce).digest();
  pin.value.fill(0);
  const proof = await service.provePin(nonce, signal);
  return proof.length === expected.length && timingSafeEqual(proof, expected) ? pin.version : undefined;
}
