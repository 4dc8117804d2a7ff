import { installNamespace } from '@bowline/runtime';
import type { Config } from './config.ts';

/** operandNamespace is the namespace of all namespaced objects. Agents and the CSI driver need privileges. */
export const operandNamespace = installNamespace('operands', (config: Config) => config.operandNamespace, {
  labels: { 'pod-security.kubernetes.io/enforce': 'privileged' },
});
