import type { ReconcileResult } from '@bowline/runtime';
import { actOrHold } from '../operand/act-or-hold.ts';
import { inputOf } from '../operand/acting.ts';
import { platformOf } from '../operand/platform.ts';
import type { PruneDecision } from '../operand/prune.ts';
import { reportInvalid } from '../operand/report.ts';
import { settingsAgree } from '../operand/settings-agree.ts';
import { writeOperand } from '../operand/write-operand.ts';
import { csiCleanup } from './clean-up.ts';
import type { CsiContext } from './controller.ts';
import { csiObjects } from './csi-objects.ts';
import { csiValidity } from './csi-validity.ts';
import { podsThatMount } from './mounting-pods.ts';

/** reconcile brings the objects of the SPIFFE CSI driver to the state that the five objects describe. */
export async function reconcile(context: CsiContext): Promise<ReconcileResult> {
  const acting = actOrHold(context, 'SpiffeCSIDriver');
  if (!acting) return undefined;
  const { object, deps } = context;
  const valid = csiValidity(acting, deps.config);
  const agreed = settingsAgree(acting, 'SpiffeCSIDriver');
  if (!valid.status) return reportInvalid(context, 'SpiffeCSIDriver', [acting.source, valid, agreed]);
  const children = csiObjects(inputOf(acting, object, platformOf(context)));
  const outcome = await writeOperand(context, {
    ...{ parent: acting.parent, children, cleanup: csiCleanup(object), conditions: [acting.source, agreed], valid },
    decide: ({ kind }, { metadata }) => (kind === 'CSIDriver' ? decideDriver(context, metadata?.name) : 'remove'),
  });
  return outcome.type === 'refused' ? undefined : outcome;
}

/** After the driver was renamed, the former one stays until no pod uses it. */
async function decideDriver({ live }: CsiContext, name = ''): Promise<PruneDecision> {
  return (await podsThatMount(live, new Set([name]), 1)).length === 0 ? 'remove' : 'later';
}
