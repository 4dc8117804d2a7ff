import { PodDisruptionBudget, StatefulSet } from '@bowline/kubernetes';
import { type Child, child } from '../objects/child.ts';
import { objectLabels, selectorLabels } from '../objects/labels.ts';
import { SERVER } from '../spire/names.ts';
import { ClusterSPIFFEID } from '../third-party/cluster-spiffe-id.ts';
import { serverAccess } from './server-access.ts';
import { serverExposure } from './server-exposure.ts';
import { type ServerInput, serverComponent, serverFiles } from './server-input.ts';
import { serverConfigMaps, serverServices, serverWebhooks } from './server-services.ts';
import { serverStatefulSet } from './server-stateful-set.ts';

/** DEFAULT_IDENTITIES is the name of the ClusterSPIFFEID that gives every pod an identity. */
export const DEFAULT_IDENTITIES = 'zero-trust-workload-identity-manager-spire-default';

/**
 * serverObjects returns the objects of a SpireServer in the order in which they are written: the workload last, so that
 * its pods find everything. The bundle is not among them, because only SPIRE writes it.
 */
export function serverObjects(input: ServerInput): readonly Child[] {
  const files = serverFiles(input);
  return [
    ...serverAccess(input),
    ...serverServices(input),
    ...serverConfigMaps(input, files),
    serverWebhooks(input),
    defaultIdentities(input),
    ...serverExposure(input),
    ...disruptionBudget(input),
    child('StatefulSetAvailable', StatefulSet, serverStatefulSet(input, files)),
  ];
}

/** It belongs to the server: without the other operands, workloads still need their identities. */
function defaultIdentities(input: ServerInput): Child {
  const { className, operandNamespace } = input.config;
  return child('ClusterSPIFFEIDAvailable', ClusterSPIFFEID, {
    metadata: { name: DEFAULT_IDENTITIES, labels: objectLabels(input, serverComponent(input)) },
    spec: {
      className,
      fallback: true,
      hint: 'default',
      namespaceSelector: {
        matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: [operandNamespace] }],
      },
      spiffeIDTemplate: 'spiffe://{{ .TrustDomain }}/ns/{{ .PodMeta.Namespace }}/sa/{{ .PodSpec.ServiceAccountName }}',
    },
  });
}

function disruptionBudget(input: ServerInput): readonly Child[] {
  if (input.spec.replicas === 1) return [];
  const of = serverComponent(input);
  return [
    child('StatefulSetAvailable', PodDisruptionBudget, {
      metadata: { name: SERVER, namespace: input.config.operandNamespace, labels: objectLabels(input, of) },
      spec: { maxUnavailable: 1, selector: { matchLabels: selectorLabels(of) } },
    }),
  ];
}
