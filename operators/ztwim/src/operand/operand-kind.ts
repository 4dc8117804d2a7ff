import { DaemonSet, Deployment, type KubernetesObject, type Resource, StatefulSet } from '@bowline/kubernetes';
import type { CustomResource } from '@bowline/runtime/resource';
import { FINALIZERS } from '../api/names.ts';
import type { OperandKind } from '../api/operand-kinds.ts';
import { SpiffeCSIDriver } from '../api/spiffe-csi-driver.ts';
import { SpireAgent } from '../api/spire-agent.ts';
import { SpireOIDCDiscoveryProvider } from '../api/spire-oidc-discovery-provider.ts';
import { SpireServer } from '../api/spire-server.ts';
import { AGENT, CSI_DRIVER, OIDC_PROVIDER, SERVER } from '../spire/names.ts';

/** OPERAND_RESOURCES are the resources of the operands. */
export const OPERAND_RESOURCES: Readonly<Record<OperandKind, CustomResource>> = {
  SpireServer,
  SpireAgent,
  SpiffeCSIDriver,
  SpireOIDCDiscoveryProvider,
};

/** OPERAND_FINALIZERS are the finalizers of the operands. */
export const OPERAND_FINALIZERS: Readonly<Record<OperandKind, string>> = {
  SpireServer: FINALIZERS.server,
  SpireAgent: FINALIZERS.agent,
  SpiffeCSIDriver: FINALIZERS.csi,
  SpireOIDCDiscoveryProvider: FINALIZERS.oidc,
};

/** OPERAND_WORKLOADS are the kinds and names of the workloads of the operands. */
export const OPERAND_WORKLOADS: Readonly<
  Record<OperandKind, { readonly resource: Resource<KubernetesObject>; readonly name: string }>
> = {
  SpireServer: { resource: StatefulSet, name: SERVER },
  SpireAgent: { resource: DaemonSet, name: AGENT },
  SpiffeCSIDriver: { resource: DaemonSet, name: CSI_DRIVER },
  SpireOIDCDiscoveryProvider: { resource: Deployment, name: OIDC_PROVIDER },
};

/** DELETION_ORDER lists consumers before what they use: each operand is deleted before those after it. */
export const DELETION_ORDER: readonly OperandKind[] = [
  'SpireOIDCDiscoveryProvider',
  'SpiffeCSIDriver',
  'SpireAgent',
  'SpireServer',
];
