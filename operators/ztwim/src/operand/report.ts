import type { ReconcileResult } from '@bowline/runtime';
import type { StatusCollector } from '@bowline/runtime/controller';
import type { OperandKind } from '../api/operand-kinds.ts';
import type { Deps } from '../deps.ts';
import { conflictEvent, type Hold } from '../resolve/hold.ts';
import { type OperandCondition, readyFrom } from './condition.ts';
import { createOnlyMode } from './create-only-mode.ts';

/** ReportTarget is the part of a run's context that reports. */
export interface ReportTarget {
  readonly deps: Pick<Deps, 'config' | 'metrics'>;
  readonly object: {
    readonly status?:
      | { readonly conditions?: readonly { readonly type: string; readonly reason: string }[] | undefined }
      | undefined;
  };
  readonly status: Pick<StatusCollector<never>, 'condition' | 'removeCondition'>;
  event(type: 'Normal' | 'Warning', reason: string, message: string): void;
}

/** The conditions that the runtime maintains. */
const OF_RUNTIME: ReadonlySet<string> = new Set(['Reconciling', 'Stalled']);

/**
 * report sets the conditions of one of the five objects and Ready, and returns Ready. A condition that no longer applies is
 * removed.
 */
export function report(target: ReportTarget, given: readonly OperandCondition[]): OperandCondition {
  const { object, status, deps } = target;
  const conditions = [...given, ...createOnlyMode(target, deps.config)];
  const ready = readyFrom(conditions);
  const types = new Set([...conditions, ready].map(({ type }) => type));
  for (const { type } of object.status?.conditions ?? []) {
    if (!types.has(type) && !OF_RUNTIME.has(type)) status.removeCondition(type);
  }
  for (const condition of [...conditions, ready]) set(target, condition);
  return ready;
}

/** reportOperand sets the conditions of an operand and Ready, and records the events about them. */
export function reportOperand(target: ReportTarget, kind: OperandKind, conditions: readonly OperandCondition[]): void {
  const ready = report(target, conditions);
  target.deps.metrics.operandReady(kind, ready.status);
  for (const { type, status, reason, message } of conditions) {
    if (status) continue;
    if (type === 'SettingsAgree') target.event('Warning', reason, message);
    if (reason === 'ResourceConflict') target.event('Warning', 'ForeignObject', message);
  }
}

/** reportInvalid reports that an operand does not act until a user changes its configuration. */
export function reportInvalid(
  target: ReportTarget,
  kind: OperandKind,
  conditions: readonly OperandCondition[],
): ReconcileResult {
  target.deps.metrics.configHeld(kind);
  reportOperand(target, kind, conditions);
  return undefined;
}

const MISSING_ISSUER = { type: 'ConfigurationValid', reason: 'MissingJWTIssuer' } as const;

/** reportHold reports that an operand does not act. What it reported about its objects still applies. */
export function reportHold(target: ReportTarget, kind: OperandKind, { reason, message, fields }: Hold): void {
  const { object, status, event, deps } = target;
  deps.metrics.configHeld(kind);
  const isIssuerMissing = reason === 'Missing' && fields.includes('jwtIssuer');
  const wasIssuerMissing = object.status?.conditions?.some(
    (each) => each.type === MISSING_ISSUER.type && each.reason === MISSING_ISSUER.reason,
  );
  if (isIssuerMissing) set(target, { ...MISSING_ISSUER, status: false, message });
  else if (wasIssuerMissing) status.removeCondition(MISSING_ISSUER.type);
  set(target, { type: 'ConfigSource', status: false, reason, message });
  setNotReady(target, kind, reason, message);
  if (reason === 'Conflict') event('Warning', conflictEvent(fields), message);
  if (reason === 'ParentMissing') event('Warning', 'ParentMissing', message);
}

/** reportTurn reports that an operand waits for its turn in a change of the trust domain. */
export function reportTurn(
  target: ReportTarget,
  kind: OperandKind,
  conditions: readonly OperandCondition[],
  { message, requeueAfterMs }: { readonly message: string; readonly requeueAfterMs: number },
): ReconcileResult {
  for (const condition of conditions) set(target, condition);
  setNotReady(target, kind, 'Progressing', message);
  return { requeueAfterMs };
}

/** reportDeletion reports why the cleanup of an operand waits. */
export function reportDeletion(target: ReportTarget, kind: OperandKind, reason: string, message: string): void {
  set(target, { type: 'Deleting', status: true, reason, message });
  setNotReady(target, kind, 'Deleting', message);
}

function setNotReady(target: ReportTarget, kind: OperandKind, reason: string, message: string): void {
  for (const mode of createOnlyMode(target, target.deps.config)) set(target, mode);
  set(target, { type: 'Ready', status: false, reason, message });
  target.deps.metrics.operandReady(kind, false);
}

function set(
  { status }: Pick<ReportTarget, 'status'>,
  { type, status: value, reason, message }: OperandCondition,
): void {
  status.condition(type, value, reason, message);
}
