import type { Deployment } from '@bowline/kubernetes';
import { objectLabels, selectorLabels } from '../objects/labels.ts';
import { asUser, podTemplate, RESTRICTED } from '../objects/pod-template.ts';
import { OIDC_PROVIDER, PORTS } from '../spire/names.ts';
import { OIDC_CERT_DIR, WORKLOAD_API_DIR } from '../spire/oidc-config.ts';
import type { RenderedFile } from '../spire/rendered-file.ts';
import { certificateSecret, OIDC_CONF, type OidcInput, oidcComponent } from './oidc-input.ts';

const CONFIG_DIR = '/run/spire/oidc/config';

/** OIDC_HASH is the annotation of the pods whose change restarts the provider. */
export const OIDC_HASH = 'ztwim.openshift.io/spire-oidc-discovery-provider-config-hash';

/** oidcDeployment returns the workload of the provider. */
export function oidcDeployment(input: OidcInput, file: RenderedFile): Deployment {
  const { spec, config } = input;
  const of = oidcComponent(input);
  return {
    metadata: { name: OIDC_PROVIDER, namespace: config.operandNamespace, labels: objectLabels(input, of) },
    spec: {
      replicas: spec.replicaCount,
      selector: { matchLabels: selectorLabels(of) },
      template: podTemplate(input, of, {
        serviceAccountName: OIDC_PROVIDER,
        annotations: { [OIDC_HASH]: file.hash },
        containers: [
          {
            name: OIDC_PROVIDER,
            image: config.images.oidcDiscoveryProvider,
            args: ['-config', `${CONFIG_DIR}/${OIDC_CONF}`],
            ports: [
              { name: 'healthz', containerPort: PORTS.oidcHealth, protocol: 'TCP' },
              { name: 'https', containerPort: PORTS.oidc, protocol: 'TCP' },
            ],
            livenessProbe: {
              httpGet: { path: '/live', port: 'healthz' },
              initialDelaySeconds: 5,
              periodSeconds: 5,
            },
            readinessProbe: {
              httpGet: { path: '/ready', port: 'healthz' },
              initialDelaySeconds: 5,
              periodSeconds: 5,
            },
            securityContext: RESTRICTED,
            volumeMounts: [
              { name: 'oidc-config', mountPath: CONFIG_DIR, readOnly: true },
              { name: 'spiffe-workload-api', mountPath: WORKLOAD_API_DIR, readOnly: true },
              { name: 'tls-certs', mountPath: OIDC_CERT_DIR, readOnly: true },
            ],
          },
        ],
        volumes: [
          { name: 'oidc-config', configMap: { name: OIDC_PROVIDER } },
          { name: 'spiffe-workload-api', csi: { driver: spec.csiDriverName, readOnly: true } },
          { name: 'tls-certs', secret: { secretName: certificateSecret(input) } },
        ],
        more: asUser(input),
      }),
    },
  };
}
