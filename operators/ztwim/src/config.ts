import { type Read, s } from '@bowline/runtime/resource';

const image = (name: string) => s.string().minLength(1).maxLength(512).default(name);

const images = s.object({
  spireServer: image('ghcr.io/spiffe/spire-server:1.13.3').describe('The SPIRE server.'),
  spireAgent: image('ghcr.io/spiffe/spire-agent:1.13.3').describe('The SPIRE agent.'),
  oidcDiscoveryProvider: image('ghcr.io/spiffe/oidc-discovery-provider:1.13.3').describe(
    'The OIDC discovery provider.',
  ),
  spireControllerManager: image('ghcr.io/spiffe/spire-controller-manager:0.6.3').describe(
    'The SPIRE controller manager.',
  ),
  spiffeCSIDriver: image('ghcr.io/spiffe/spiffe-csi-driver:0.2.7').describe('The SPIFFE CSI driver.'),
  nodeDriverRegistrar: image('registry.k8s.io/sig-storage/csi-node-driver-registrar:v2.15.0').describe(
    'The program that registers the CSI driver with kubelet.',
  ),
  seLinuxInit: image('registry.access.redhat.com/ubi9/ubi:9.6').describe(
    'The image with chcon, which gives the socket its SELinux context.',
  ),
});

/** config is the operator's section of the configuration. */
export const config = s.object({
  operandNamespace: s
    .dnsLabel()
    .default('zero-trust-workload-identity-manager')
    .describe('The namespace of all namespaced objects. It must exist.'),
  createOnly: s.boolean().default(false).describe('Create missing objects, but change none.'),
  platform: s
    .enum(['auto', 'kubernetes', 'openshift'])
    .default('auto')
    .describe('The platform. `auto` is OpenShift if Routes are served.'),
  clusterDomain: s.dnsSubdomain().default('cluster.local').describe('The DNS domain of the cluster.'),
  className: s
    .dnsSubdomain()
    .default('zero-trust-workload-identity-manager-spire')
    .describe('The class of the ClusterSPIFFEIDs that SPIRE uses.'),
  kubeletAuthorization: s
    .enum(['pods', 'proxy'])
    .default('pods')
    .describe(
      'The permission with which agents read pods from kubelet: `nodes/pods` (kubelet 1.33 and later), or `nodes/proxy`, with which commands can be run in every container.',
    ),
  certificateRequests: s
    .boolean()
    .default(false)
    .describe(
      'Whether the SPIRE server may request its CA from cert-manager: the operator can only grant this permission if it has it.',
    ),
  operatorCondition: s
    .dnsSubdomain()
    .describe(
      'The OperatorCondition of OLM, in the namespace of the manager, that the condition Upgradeable is copied to. OLM gives its name to the pod in the variable OPERATOR_CONDITION_NAME. Defaults to none.',
    )
    .optional(),
  images: images.default({}).describe('The images of the operands.'),
  imagePullSecrets: s
    .array(s.dnsSubdomain())
    .maxItems(16)
    .default([])
    .describe('The Secrets with which images are pulled.'),
});

/** Config is the operator's section of the configuration, with defaults. */
export type Config = Read<typeof config>;
