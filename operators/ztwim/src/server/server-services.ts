import { ConfigMap, Service, ValidatingWebhookConfiguration } from '@bowline/kubernetes';
import { type Child, child } from '../objects/child.ts';
import { objectLabels, selectorLabels } from '../objects/labels.ts';
import { CONTROLLER_MANAGER, PORTS, SERVER, WEBHOOK } from '../spire/names.ts';
import { type ServerFiles, type ServerInput, serverComponent, usesServingCert } from './server-input.ts';

/** SERVING_CERT is the Secret with the certificate of the federation endpoint. */
export const SERVING_CERT = 'spire-server-serving-cert';

/** serverServices returns the Services of the server and of its webhooks. */
export function serverServices(input: ServerInput): readonly Child[] {
  const { operandNamespace: namespace } = input.config;
  const of = serverComponent(input);
  const labels = objectLabels(input, of);
  const selector = selectorLabels(of);
  const { federation } = input.spec;
  const needsCertificate = input.isOpenShift && usesServingCert(input.spec);
  return [
    child('ServiceAvailable', Service, {
      metadata: {
        name: SERVER,
        namespace,
        labels,
        ...(needsCertificate
          ? { annotations: { 'service.beta.openshift.io/serving-cert-secret-name': SERVING_CERT } }
          : {}),
      },
      spec: {
        type: 'ClusterIP',
        selector,
        ports: [
          { name: 'grpc', port: 443, targetPort: 'grpc', protocol: 'TCP' },
          { name: 'metrics', port: PORTS.metrics, targetPort: 'metrics', protocol: 'TCP' },
          ...(federation
            ? [{ name: 'federation', port: PORTS.federation, targetPort: 'federation', protocol: 'TCP' } as const]
            : []),
        ],
      },
    }),
    child('ServiceAvailable', Service, {
      metadata: { name: WEBHOOK, namespace, labels },
      spec: {
        type: 'ClusterIP',
        selector,
        ports: [{ name: 'https', port: 443, targetPort: 'https', protocol: 'TCP' }],
      },
    }),
  ];
}

/** SERVER_CONF is the key of the configuration of the server in its ConfigMap. */
export const SERVER_CONF = 'server.conf';

/** CONTROLLER_MANAGER_CONF is the key of the configuration of the controller manager in its ConfigMap. */
export const CONTROLLER_MANAGER_CONF = 'controller-manager-config.yaml';

/** serverConfigMaps returns the ConfigMaps with the configuration files. */
export function serverConfigMaps(input: ServerInput, files: ServerFiles): readonly Child[] {
  const { operandNamespace: namespace } = input.config;
  const labels = objectLabels(input, serverComponent(input));
  return [
    child('ServerConfigMapAvailable', ConfigMap, {
      metadata: { name: SERVER, namespace, labels },
      data: { [SERVER_CONF]: files.server.text },
    }),
    child('ControllerManagerConfigAvailable', ConfigMap, {
      metadata: { name: CONTROLLER_MANAGER, namespace, labels },
      data: { [CONTROLLER_MANAGER_CONF]: files.controllerManager.text },
    }),
  ];
}

const WEBHOOK_KINDS = ['clusterfederatedtrustdomain', 'clusterspiffeid'];

/**
 * serverWebhooks returns the webhooks with which the controller manager validates its kinds. It sets the certificate
 * authority itself.
 */
export function serverWebhooks(input: ServerInput): Child {
  const { operandNamespace: namespace } = input.config;
  return child('ValidatingWebhookAvailable', ValidatingWebhookConfiguration, {
    metadata: { name: WEBHOOK, labels: objectLabels(input, serverComponent(input)) },
    webhooks: WEBHOOK_KINDS.map((kind) => ({
      name: `v${kind}.kb.io`,
      admissionReviewVersions: ['v1'],
      clientConfig: { service: { name: WEBHOOK, namespace, path: `/validate-spire-spiffe-io-v1alpha1-${kind}` } },
      // SPIRE works without them, and must not be blocked while its server is not ready.
      failurePolicy: 'Ignore' as const,
      sideEffects: 'None' as const,
      rules: [
        {
          apiGroups: ['spire.spiffe.io'],
          apiVersions: ['v1alpha1'],
          operations: ['CREATE', 'UPDATE'] as const,
          resources: [`${kind}s`],
          scope: 'Cluster' as const,
        },
      ],
    })),
  });
}
