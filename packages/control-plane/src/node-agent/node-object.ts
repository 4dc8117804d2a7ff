import type { Node, Taint } from '@bowline/kubernetes';
import { AGENT_LABEL } from './behaviour.ts';
import { ARCHITECTURE, DEFAULT_CAPACITY } from './node-status.ts';

/** DEFAULT_AGENT is the default name of an agent. */
export const DEFAULT_AGENT = 'bowline';

/** NodeTemplate describes a node of an agent. */
export interface NodeTemplate {
  readonly name: string;
  /** Defaults to none besides those of every node. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** Defaults to none. */
  readonly taints?: readonly Taint[] | undefined;
  /** Additional or different capacity, for example devices. Defaults to ample amounts of the usual resources. */
  readonly capacity?: Readonly<Record<string, string>> | undefined;
}

/** nodeObject returns the Node as the agent registers it; the label assigns it to the agent. */
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
