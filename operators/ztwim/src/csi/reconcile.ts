import type { ReconcileResult } from '@bowline/runtime';
import { combinePodSettings } from '../objects/operand-input.ts';
import { actOrHold } from '../operand/act-or-hold.ts';
import { isOpenShift } from '../operand/platform.ts';
import { report } from '../operand/report.ts';
import { settingsAgree } from '../operand/settings-agree.ts';
import { namespaceProblem, validity } from '../operand/validity.ts';
import { writeOperand } from '../operand/write-operand.ts';
import type { CsiContext } from './controller.ts';
import { csiObjects } from './csi-objects.ts';

/** reconcile brings the objects of the SPIFFE CSI driver to the state that the five objects describe. */
export async function reconcile(context: CsiContext): Promise<ReconcileResult> {
  const acting = actOrHold(context, 'SpiffeCSIDriver');
  if (!acting) return undefined;
  const { object, deps } = context;
  const valid = validity(namespaceProblem(acting.parent, deps.config));
  const agreed = settingsAgree(acting, 'SpiffeCSIDriver');
  if (!valid.status) {
    report(context, [acting.source, valid, agreed]);
    return undefined;
  }
  const children = csiObjects({
    spec: object.spec,
    pods: combinePodSettings(acting.parent.spec, object.spec),
    config: deps.config,
    isOpenShift: isOpenShift(context),
  });
  const outcome = await writeOperand(context, children, { conditions: [acting.source, agreed], valid });
  return outcome.type === 'waiting' ? outcome : undefined;
}
