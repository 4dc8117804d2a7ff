import { DaemonSet, Deployment, type KubernetesObject, StatefulSet } from '@bowline/kubernetes';
import {
  annotationsChanged,
  anyOf,
  changed,
  controller,
  generationChanged,
  ownerReferencesChanged,
} from '@bowline/runtime';
import { FINALIZERS, SINGLETON } from '../api/names.ts';
import { SpiffeCSIDriver } from '../api/spiffe-csi-driver.ts';
import { SpireAgent } from '../api/spire-agent.ts';
import { SpireOIDCDiscoveryProvider } from '../api/spire-oidc-discovery-provider.ts';
import { SpireServer } from '../api/spire-server.ts';
import { ZeroTrustWorkloadIdentityManager } from '../api/zero-trust-workload-identity-manager.ts';
import type { Deps } from '../deps.ts';
import { configChanged, ofWorkloads } from '../operand/sources.ts';

interface WithConditions extends KubernetesObject {
  readonly status?:
    | {
        readonly conditions?:
          | readonly { readonly status: string; readonly reason: string; readonly message: string }[]
          | undefined;
      }
    | undefined;
}

/** The conditions of operands are copied, and their owners and finalizers are watched. */
const operandChanged = anyOf(
  configChanged,
  annotationsChanged(),
  ownerReferencesChanged,
  changed((before: WithConditions, after) => describe(before) !== describe(after)),
  changed(
    (before: KubernetesObject, after) => before.metadata?.finalizers?.join() !== after.metadata?.finalizers?.join(),
  ),
);

function describe({ status }: WithConditions): string {
  return JSON.stringify(status?.conditions ?? []);
}

const ofOperands = { when: operandChanged, map: () => [{ name: SINGLETON }] } as const;

/** The operands report the health of workloads: here it matters only that they exist. */
const existing = { ...ofWorkloads, when: generationChanged } as const;

/** configController watches the ZeroTrustWorkloadIdentityManager and the operands that it configures. */
export const configController = controller(ZeroTrustWorkloadIdentityManager, {
  name: 'config',
  finalizer: FINALIZERS.config,
  fieldSelector: `metadata.name=${SINGLETON}`,
})
  .using<Deps>()
  .watches(SpireServer, ofOperands)
  .watches(SpireAgent, ofOperands)
  .watches(SpiffeCSIDriver, ofOperands)
  .watches(SpireOIDCDiscoveryProvider, ofOperands)
  .watches(StatefulSet, existing)
  .watches(DaemonSet, existing)
  .watches(Deployment, existing)
  .when(anyOf(generationChanged, annotationsChanged()));

/** ConfigContext is the context of a run of the controller. */
export type ConfigContext = Parameters<Parameters<(typeof configController)['reconcile']>[0]>[0];
