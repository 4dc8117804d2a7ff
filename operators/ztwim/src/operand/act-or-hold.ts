import type { OperandKind } from '../api/operand-kinds.ts';
import type { ZeroTrustWorkloadIdentityManager } from '../api/zero-trust-workload-identity-manager.ts';
import { type EffectiveValues, type Hold, holdOf, resolvedValue } from '../resolve/hold.ts';
import type { OperandCondition } from './condition.ts';
import { configSource, reportSource } from './config-source.ts';
import { forbiddenChange } from './identity-change.ts';
import { type ReportTarget, reportHold } from './report.ts';
import { readSingletons, type SingletonReads, type Singletons } from './singletons.ts';

/** Acting is what an operand needs to act. */
export interface Acting extends Singletons {
  readonly parent: ZeroTrustWorkloadIdentityManager;
  /** The values that the operand needs are not empty. */
  readonly values: EffectiveValues;
  readonly source: OperandCondition;
}

/** actOrHold returns what an operand needs to act. If it must not act, that is reported, and undefined is returned. */
export function actOrHold(context: SingletonReads & ReportTarget, kind: OperandKind): Acting | undefined {
  const singletons = readSingletons(context);
  const { parent, shared } = singletons;
  const hold = holdOf(shared, kind) ?? forbiddenHold(singletons, kind);
  if (parent) context.deps.metrics.configSeen(parent);
  if (hold || !parent) {
    if (hold) reportHold(context, kind, hold);
    return undefined;
  }
  reportSource(context, shared, kind);
  const values = {
    trustDomain: resolvedValue(shared, 'trustDomain') ?? '',
    clusterName: resolvedValue(shared, 'clusterName') ?? '',
    bundleConfigMap: resolvedValue(shared, 'bundleConfigMap') ?? '',
    jwtIssuer: resolvedValue(shared, 'jwtIssuer') ?? '',
  };
  return { ...singletons, parent, values, source: configSource(shared, kind) };
}

/** Admission refuses such a change; this is for clusters whose webhooks were bypassed. */
function forbiddenHold(singletons: Singletons, kind: OperandKind): Hold | undefined {
  const message = forbiddenChange(singletons, kind);
  return message === undefined ? undefined : { reason: 'IdentityChangeForbidden', message, fields: [] };
}
