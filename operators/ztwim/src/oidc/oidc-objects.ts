import { ConfigMap, Deployment, PodDisruptionBudget, Service, ServiceAccount } from '@bowline/kubernetes';
import { type Child, child } from '../objects/child.ts';
import { objectLabels, selectorLabels } from '../objects/labels.ts';
import { OIDC_PROVIDER } from '../spire/names.ts';
import { hostOf, oidcConfig } from '../spire/oidc-config.ts';
import { renderFile } from '../spire/rendered-file.ts';
import { ClusterSPIFFEID } from '../third-party/cluster-spiffe-id.ts';
import { oidcDeployment } from './oidc-deployment.ts';
import { oidcExposure } from './oidc-exposure.ts';
import { OIDC_CONF, OIDC_PORT, OIDC_SERVING_CERT, type OidcInput, oidcComponent } from './oidc-input.ts';

/** OIDC_IDENTITY is the name of the ClusterSPIFFEID of the provider. */
export const OIDC_IDENTITY = 'zero-trust-workload-identity-manager-spire-oidc-discovery-provider';

/** oidcObjects returns the objects of a SpireOIDCDiscoveryProvider in the order in which they are written. */
export function oidcObjects(input: OidcInput): readonly Child[] {
  const { config, spec, values, isOpenShift } = input;
  const { operandNamespace: namespace, clusterDomain } = config;
  const of = oidcComponent(input);
  const labels = objectLabels(input, of);
  const metadata = { name: OIDC_PROVIDER, namespace, labels };
  const file = renderFile(oidcConfig({ spec, values, namespace, clusterDomain }));
  const wantsPlatformCertificate = isOpenShift && spec.tls === undefined;
  return [
    child('ServiceAccountAvailable', ServiceAccount, { metadata }),
    child('ServiceAvailable', Service, {
      metadata: {
        ...metadata,
        ...(wantsPlatformCertificate
          ? { annotations: { 'service.beta.openshift.io/serving-cert-secret-name': OIDC_SERVING_CERT } }
          : {}),
      },
      spec: {
        type: 'ClusterIP',
        selector: selectorLabels(of),
        ports: [{ name: 'https', port: OIDC_PORT, targetPort: 'https', protocol: 'TCP' }],
      },
    }),
    child('ConfigMapAvailable', ConfigMap, { metadata, data: { [OIDC_CONF]: file.text } }),
    identity(input),
    ...oidcExposure(input),
    ...(spec.replicaCount > 1
      ? [
          child('DeploymentAvailable', PodDisruptionBudget, {
            metadata,
            spec: { maxUnavailable: 1, selector: { matchLabels: selectorLabels(of) } },
          }),
        ]
      : []),
    child('DeploymentAvailable', Deployment, oidcDeployment(input, file)),
  ];
}

function identity(input: OidcInput): Child {
  const { className, operandNamespace } = input.config;
  const of = oidcComponent(input);
  return child('ClusterSPIFFEIDAvailable', ClusterSPIFFEID, {
    metadata: { name: OIDC_IDENTITY, labels: objectLabels(input, of) },
    spec: {
      className,
      hint: 'oidc-discovery-provider',
      autoPopulateDNSNames: true,
      dnsNameTemplates: [hostOf(input.values.jwtIssuer)],
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': operandNamespace } },
      podSelector: { matchLabels: selectorLabels(of) },
      spiffeIDTemplate: 'spiffe://{{ .TrustDomain }}/ns/{{ .PodMeta.Namespace }}/sa/{{ .PodSpec.ServiceAccountName }}',
    },
  });
}
