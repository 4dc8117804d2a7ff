import type { ConditionUpdate } from '@bowline/runtime/writing';
import type { PoolStatus } from '../api/hsm-pool.ts';
import { someOf } from '../pool/pool-facts.ts';

/** AgentRow is the state of the agent of a device in the status of a pool. */
export type AgentRow = NonNullable<PoolStatus['agents']>[number];

/** PIN_REASONS are the reasons why a PIN cannot be used, by how urgent they are. */
const PIN_REASONS = ['PINLocked', 'PINFinalTry', 'PINIncorrect', 'PINUncertain', 'PINMissing'] as const;

/** Reasons of agents that are reasons of the condition AgentsReady. */
const AGENT_REASONS: ReadonlySet<string> = new Set([
  'LibraryMissing',
  'TokenNotFound',
  'Pkcs11Unavailable',
  'AgentDeferred',
]);

/** AgentFacts is what a run found out about the agents of a pool. */
export interface AgentFacts {
  /** Why the HSMDevice has no agents. */
  readonly absence: 'NoPKCS11' | 'Suspended' | undefined;
  readonly rows: readonly AgentRow[];
  /** What is wrong with the Secret of the PIN. */
  readonly pinProblem: { readonly reason: string; readonly message: string } | undefined;
}

const ABSENCE = {
  NoPKCS11: 'the HSMDevice has no pkcs11.libraryPath and pkcs11.pinSecret, so its devices have no agents',
  Suspended: 'the HSMDevice is suspended',
} as const;

/** agentConditions returns the conditions of a pool about its agents. */
export function agentConditions(facts: AgentFacts): readonly ConditionUpdate[] {
  const { absence, rows, pinProblem } = facts;
  if (absence) {
    return [
      { type: 'AgentsReady', status: 'Unknown', reason: absence, message: ABSENCE[absence] },
      { type: 'PINAvailable', status: undefined, reason: '', message: '' },
    ];
  }
  return [agentsReady(rows), pinAvailable(rows, pinProblem)];
}

function agentsReady(rows: readonly AgentRow[]): ConditionUpdate {
  const waiting = rows.filter(({ ready }) => !ready);
  const type = 'AgentsReady';
  if (waiting.length === 0) {
    return { type, status: true, reason: 'AllReady', message: `${rows.length} of ${rows.length} agents are ready` };
  }
  const known = waiting.find(({ reason }) => reason !== undefined && AGENT_REASONS.has(reason));
  const named = waiting.map(
    ({ serialNumber, message, reason }) => `${serialNumber}: ${message ?? reason ?? 'starting'}`,
  );
  const message = `${rows.length - waiting.length} of ${rows.length} agents are ready; ${someOf(named, 3)}`;
  return { type, status: false, reason: known?.reason ?? 'AgentNotReady', message };
}

function pinAvailable(rows: readonly AgentRow[], problem: AgentFacts['pinProblem']): ConditionUpdate {
  const type = 'PINAvailable';
  if (problem) return { type, status: false, ...problem };
  const reason = PIN_REASONS.find((each) => rows.some((row) => row.reason === each));
  if (!reason) return { type, status: true, reason: 'Available', message: 'the PIN is available' };
  const affected = rows.filter((row) => row.reason === reason);
  const message = affected.map(({ serialNumber, message: text }) => `${serialNumber}: ${text ?? reason}`);
  return {
    type,
    status: false,
    reason: reason === 'PINMissing' ? 'PINKeyMissing' : reason,
    message: someOf(message, 3),
  };
}
