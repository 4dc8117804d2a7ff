export {
  type Cluster,
  type ClusterOptions,
  cluster,
  type ServiceAccountOptions,
  type TestServiceAccount,
} from './cluster.ts';
export { type Kubectl, kubectlOf, kubectlProgram } from './kubectl.ts';
export type { OperatorsOptions, RunningOperators, TestWebhooks } from './run-operators.ts';
export { type SharedControlPlane, sharedControlPlane } from './shared-control-plane.ts';
export { type Selection, type UntilOptions, until, untilGone, untilList } from './until.ts';
