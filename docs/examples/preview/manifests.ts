import type { Deployment, KubernetesObject, Service } from '@bowline/kubernetes';
import { customResourceDefinition, rbacManifests, webhookConfigurations } from '@bowline/runtime/install';
import { previews } from './operator.ts';

const namespace = 'previews';
const labels = { 'app.kubernetes.io/name': 'previews' };

const webhookService: Service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace, name: 'previews-webhook' },
  spec: { selector: labels, ports: [{ port: 443, targetPort: 9443 }] },
};

/** manifests is all that an administrator applies: the kind, an account with exactly the declared rights, two replicas, the webhook. */
export function manifests(image: string): readonly KubernetesObject[] {
  const serviceAccount = 'previews';
  const { validating } = webhookConfigurations({
    operator: previews.name,
    domain: previews.domain,
    webhooks: previews.webhooks,
    address: { service: { namespace, name: 'previews-webhook' } },
    ownNamespace: namespace,
    ownKinds: previews.resources,
  });
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    ...previews.resources.map(customResourceDefinition),
    ...rbacManifests(previews, { namespace, serviceAccount }),
    deployment(image, serviceAccount),
    webhookService,
    ...(validating ? [validating] : []),
  ];
}

/** Two replicas: one leads, both answer the webhook, and the other takes over. */
function deployment(image: string, serviceAccountName: string): Deployment {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace, name: 'previews', labels },
    spec: {
      replicas: 2,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          serviceAccountName,
          containers: [
            {
              name: 'operator',
              image,
              env: [
                { name: 'DNS_URL', value: 'http://dns.example.com' },
                { name: 'DOMAIN', value: 'preview.example.com' },
                { name: 'GATEWAY', value: '203.0.113.7' },
              ],
              ports: [
                { name: 'metrics', containerPort: 8080 },
                { name: 'health', containerPort: 8081 },
                { name: 'webhook', containerPort: 9443 },
              ],
              livenessProbe: { httpGet: { path: '/livez', port: 'health' } },
              readinessProbe: { httpGet: { path: '/readyz', port: 'health' } },
              resources: { requests: { cpu: '50m', memory: '96Mi' }, limits: { memory: '192Mi' } },
            },
          ],
        },
      },
    },
  };
}
