import type { SpireAgent } from '../api/spire-agent.ts';
import type { Component } from '../objects/labels.ts';
import type { OperandInput } from '../objects/operand-input.ts';
import { AGENT } from '../spire/names.ts';

/** AgentInput is what the objects of a SpireAgent follow from. */
export interface AgentInput extends OperandInput {
  readonly spec: SpireAgent['spec'];
  readonly values: { readonly trustDomain: string; readonly clusterName: string; readonly bundleConfigMap: string };
}

/** AGENT_CONF is the key of the configuration of the agent in its ConfigMap. */
export const AGENT_CONF = 'agent.conf';

/** agentComponent returns how objects of the agent are labelled. */
export function agentComponent({ config }: OperandInput): Component {
  return { name: AGENT, component: 'node-agent', image: config.images.spireAgent };
}
