import type { Node, Taint } from '@bowline/kubernetes';
import { AGENT_LABEL } from './behaviour.ts';
import { ARCHITECTURE, DEFAULT_CAPACITY } from './node-status.ts';

/** DEFAULT_AGENT is the name of an agent that was given none. */
export const DEFAULT_AGENT = 'bowline';

/** NodeTemplate describes a node of an agent. */
export interface NodeTemplate {
  readonly name: string;
  /** Defaults to none besides those that every node has. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** Defaults to none. */
  readonly taints?: readonly Taint[] | undefined;
  /** What it has that others have not, or more of: devices, for instance. Defaults to plenty of the usual. */
  readonly capacity?: Readonly<Record<string, string>> | undefined;
}

/** nodeObject is the Node as the agent registers it; the label makes it the agent's. */
export function nodeObject(agent: string, { name, labels, taints, capacity }: NodeTemplate): Node {
  const everything = { ...DEFAULT_CAPACITY, ...capacity };
  return {
    metadata: {
      name,
      labels: {
        'kubernetes.io/hostname': name,
        'kubernetes.io/os': 'linux',
        'kubernetes.io/arch': ARCHITECTURE,
        ...labels,
        [AGENT_LABEL]: agent,
      },
    },
    ...(taints ? { spec: { taints } } : {}),
    status: { capacity: everything, allocatable: everything },
  };
}
