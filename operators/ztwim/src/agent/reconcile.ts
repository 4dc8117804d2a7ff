import { Node } from '@bowline/kubernetes';
import type { ReconcileResult } from '@bowline/runtime';
import { actOrHold } from '../operand/act-or-hold.ts';
import { inputOf } from '../operand/acting.ts';
import { platformOf } from '../operand/platform.ts';
import { reportInvalid, reportTurn } from '../operand/report.ts';
import { settingsAgree } from '../operand/settings-agree.ts';
import { writeOperand } from '../operand/write-operand.ts';
import { kubeletVerification } from '../spire/agent-config.ts';
import { agentObjects } from './agent-objects.ts';
import { agentValidity } from './agent-validity.ts';
import { awaitServer } from './await-server.ts';
import { agentCleanup } from './clean-up.ts';
import type { AgentContext } from './controller.ts';
import { kubeletAccess } from './kubelet-access.ts';

/** reconcile brings the objects of the SPIRE agents to the state that the five objects describe. */
export async function reconcile(context: AgentContext): Promise<ReconcileResult> {
  const acting = actOrHold(context, 'SpireAgent');
  if (!acting) return undefined;
  const { object, deps, list } = context;
  const valid = agentValidity(acting, deps.config);
  const agreed = settingsAgree(acting, 'SpireAgent');
  const general = [acting.source, valid, agreed];
  if (!valid.status) return reportInvalid(context, 'SpireAgent', general);
  const turn = await awaitServer(context, acting);
  if (turn.type === 'wait') return reportTurn(context, 'SpireAgent', general, turn);
  if (turn.type === 'overdue') context.event('Warning', 'CascadeNotAwaited', turn.message);
  const input = inputOf(acting, object, platformOf(context));
  const kubelet = kubeletAccess(list(Node), deps.config, kubeletVerification(input));
  const conditions = [acting.source, agreed, kubelet];
  const { parent } = acting;
  const children = agentObjects(input);
  const outcome = await writeOperand(context, { parent, children, cleanup: agentCleanup, conditions, valid });
  return outcome.type === 'refused' ? undefined : outcome;
}
