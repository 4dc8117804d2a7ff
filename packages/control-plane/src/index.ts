export type { AuditEvent, AuditUser } from './audit/audit-log.ts';
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
export {
  type KubeconfigCredentials,
  type KubeconfigDocument,
  type KubeconfigParts,
  kubeconfigDocument,
  writeKubeconfig,
} from './kubeconfig.ts';
export { type Attachment, attachControlPlane, attachmentOf } from './kubernetes/access.ts';
export type { KubernetesOptions } from './kubernetes/options.ts';
export { type ControlPlaneOptions, type EmbeddedOptions, startControlPlane } from './start-control-plane.ts';
export { runSupervisor } from './supervisor/run-supervisor.ts';
export type { SupervisorCommand } from './supervisor/supervisor.ts';
