import type { ReconcileResult } from '@bowline/runtime';
import { isConflict } from '@bowline/runtime/client';
import type { OperandKind } from '../api/operand-kinds.ts';
import type { ReportTarget } from './report.ts';

/**
 * observeRun returns a reconcile function that also records that an operand is not ready if it fails: the runtime then sets
 * the condition Ready. A write conflict is no failure, because it is retried at once.
 */
export function observeRun<C extends Pick<ReportTarget, 'deps'>>(
  kind: OperandKind,
  reconcile: (context: C) => Promise<ReconcileResult>,
): (context: C) => Promise<ReconcileResult> {
  return async (context) => {
    try {
      return await reconcile(context);
    } catch (error) {
      if (!isConflict(error)) context.deps.metrics.operandReady(kind, false);
      throw error;
    }
  };
}
