import type { OperandKind } from '../api/operand-kinds.ts';
import { type Acting, decide } from './acting.ts';
import { reportSource } from './config-source.ts';
import { type ReportTarget, reportHold } from './report.ts';
import { readSingletons, type SingletonReads } from './singletons.ts';

/** actOrHold returns what an operand needs to act. If it must not act, that is reported, and undefined is returned. */
export function actOrHold(context: SingletonReads & ReportTarget, kind: OperandKind): Acting | undefined {
  const singletons = readSingletons(context);
  const decision = decide(singletons, kind);
  if (singletons.parent) context.deps.metrics.configSeen(singletons.parent);
  if (decision.type === 'hold') {
    reportHold(context, kind, decision.hold);
    return undefined;
  }
  reportSource(context, singletons.shared, kind);
  return decision.acting;
}
