export { type Attachment, attachControlPlane, attachmentOf } from './access.ts';
export { type BuildOptions, buildBinaries, ensureBinaries } from './binaries/build-binaries.ts';
export {
  type Binaries,
  type BinaryName,
  type BinaryOptions,
  type Environment,
  findBinaries,
} from './binaries/find-binaries.ts';
export { connectClient } from './connect-client.ts';
export type * from './control-plane.ts';
export type { EmbeddedControlPlane, EmbeddedFaults } from './embedded/embedded-control-plane.ts';
export type { EmbeddedOptions } from './embedded/options.ts';
export {
  type KubeconfigCredentials,
  type KubeconfigDocument,
  type KubeconfigParts,
  kubeconfigDocument,
  writeKubeconfig,
} from './kubeconfig.ts';
export type { KubernetesOptions } from './kubernetes/options.ts';
export {
  AGENT_LABEL,
  BEHAVIOUR_ANNOTATION,
  type NodeBehaviour,
  type PodBehaviour,
  type PodRule,
  RULE_PREFIX,
  type SteeringRule,
} from './node-agent/behaviour.ts';
export type { NodeTemplate } from './node-agent/node-object.ts';
export { type NodeAgentRbac, type NodeAgentRbacOptions, nodeAgentRbac } from './node-agent/rbac.ts';
export { type NodeAgent, type NodeAgentOptions, startNodeAgent } from './node-agent/start-node-agent.ts';
export {
  type ClaimTarget,
  type NodeControls,
  type PodControls,
  type PodTarget,
  type Steered,
  type Steering,
  type SteeringOptions,
  steering,
  type VolumeControls,
} from './node-agent/steer.ts';
export { PROVISIONER, STORAGE_CLASS } from './node-agent/volumes/provisioner.ts';
export { VOLUME_RULE_PREFIX, type VolumeBehaviour, type VolumeRule } from './node-agent/volumes/volume-behaviour.ts';
export type { ServiceAddress, ServiceReference, ServiceResolver } from './server/admission/webhooks/service-address.ts';
export type * from './server/audit/audit-event.ts';
export type { RequestFault } from './server/faults/request-faults.ts';
export type { OpenApiDocument } from './server/openapi/descriptions.ts';
export { type ControlPlaneOptions, startControlPlane } from './start-control-plane.ts';
export { runSupervisor } from './supervisor/run-supervisor.ts';
export type { SupervisorCommand } from './supervisor/supervisor.ts';
export { startWorkloads, type Workloads, type WorkloadsOptions } from './workloads/start-workloads.ts';
