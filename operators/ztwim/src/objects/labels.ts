import { MANAGER } from '../api/names.ts';
import type { OperandInput } from './operand-input.ts';

/** Component is the part of SPIRE that an object belongs to. */
export interface Component {
  /** The value of app.kubernetes.io/name. */
  readonly name: string;
  readonly component: 'control-plane' | 'node-agent' | 'csi' | 'discovery';
  readonly image: string;
}

const INSTANCE = 'cluster-zero-trust-workload-identity-manager';
const PART_OF = 'zero-trust-workload-identity-manager';

/** MANAGED_BY is the label that marks the objects of the operator. */
export const MANAGED_BY = { 'app.kubernetes.io/managed-by': MANAGER } as const;

/** selectorLabels returns the labels by which Services and workloads select pods. They never change. */
export function selectorLabels({ name, component }: Component): Readonly<Record<string, string>> {
  return {
    'app.kubernetes.io/name': name,
    'app.kubernetes.io/instance': INSTANCE,
    'app.kubernetes.io/component': component,
  };
}

/** objectLabels returns the labels of an object. Those of the user cannot replace ours. */
export function objectLabels({ pods }: OperandInput, of: Component): Readonly<Record<string, string>> {
  return {
    ...pods.labels,
    ...selectorLabels(of),
    'app.kubernetes.io/part-of': PART_OF,
    'app.kubernetes.io/version': versionOf(of.image),
    ...MANAGED_BY,
  };
}

/** The tag of the image, as far as it is a valid label. */
function versionOf(image: string): string {
  const tag = /:([A-Za-z0-9][A-Za-z0-9._-]{0,61}[A-Za-z0-9]|[A-Za-z0-9])$/.exec(image.split('@', 1)[0] ?? '')?.[1];
  return tag ?? 'unknown';
}
