import { Node } from '@bowline/kubernetes';
import type { ReconcileResult } from '@bowline/runtime';
import { combinePodSettings } from '../objects/operand-input.ts';
import { actOrHold } from '../operand/act-or-hold.ts';
import { isOpenShift } from '../operand/platform.ts';
import { reportInvalid, reportTurn } from '../operand/report.ts';
import { settingsAgree } from '../operand/settings-agree.ts';
import { bundleProblem, namespaceProblem, validity } from '../operand/validity.ts';
import { writeOperand } from '../operand/write-operand.ts';
import { kubeletVerification } from '../spire/agent-config.ts';
import type { AgentInput } from './agent-input.ts';
import { agentObjects } from './agent-objects.ts';
import { awaitServer } from './await-server.ts';
import { agentCleanup } from './clean-up.ts';
import type { AgentContext } from './controller.ts';
import { kubeletAccess } from './kubelet-access.ts';

/** reconcile brings the objects of the SPIRE agents to the state that the five objects describe. */
export async function reconcile(context: AgentContext): Promise<ReconcileResult> {
  const acting = actOrHold(context, 'SpireAgent');
  if (!acting) return undefined;
  const { object, deps, list } = context;
  const valid = validity(namespaceProblem(acting.parent, deps.config), bundleProblem(acting.values.bundleConfigMap));
  const agreed = settingsAgree(acting, 'SpireAgent');
  const general = [acting.source, valid, agreed];
  if (!valid.status) return reportInvalid(context, 'SpireAgent', general);
  const turn = await awaitServer(context, acting);
  if (turn.type === 'wait') return reportTurn(context, 'SpireAgent', general, turn);
  if (turn.type === 'overdue') context.event('Warning', 'CascadeNotAwaited', turn.message);
  const input: AgentInput = {
    spec: object.spec,
    pods: combinePodSettings(acting.parent.spec, object.spec),
    values: acting.values,
    config: deps.config,
    isOpenShift: isOpenShift(context),
  };
  const kubelet = kubeletAccess(list(Node), deps.config, kubeletVerification(input));
  const conditions = [acting.source, agreed, kubelet];
  const { parent } = acting;
  const children = agentObjects(input);
  const outcome = await writeOperand(context, { parent, children, cleanup: agentCleanup, conditions, valid });
  return outcome.type === 'refused' ? undefined : outcome;
}
