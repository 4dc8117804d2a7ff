import { type Deployment, type Ingress, keyOf, type Service } from '@bowline/kubernetes';
import { parseDuration, parseTime } from '@bowline/machinery';
import type { Preview } from './preview.ts';

/** hostName returns the full host name of a Preview. */
export function hostName({ spec }: Preview, domain: string): string {
  return `${spec.host}.${domain}`;
}

/** expiryOf returns when a Preview expires, in milliseconds since the epoch. */
export function expiryOf({ metadata, spec }: Preview): number {
  return parseTime(metadata?.creationTimestamp ?? '') + parseDuration(spec.keepFor);
}

/** desiredDeployment returns the Deployment of the application. */
export function desiredDeployment(preview: Preview): Deployment {
  const { image, port, replicas } = preview.spec;
  const labels = labelsOf(preview);
  return {
    metadata: { ...keyOf(preview), labels },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: 'app', image, ports: [{ containerPort: port }] }] },
      },
    },
  };
}

/** desiredService returns the Service of its Pods. */
export function desiredService(preview: Preview): Service {
  const labels = labelsOf(preview);
  return {
    metadata: { ...keyOf(preview), labels },
    spec: { selector: labels, ports: [{ port: 80, targetPort: preview.spec.port }] },
  };
}

/** desiredIngress returns the Ingress that routes the host to the Service. */
export function desiredIngress(preview: Preview, domain: string): Ingress {
  const key = keyOf(preview);
  const backend = { service: { name: key.name, port: { number: 80 } } };
  return {
    metadata: { ...key, labels: labelsOf(preview) },
    spec: {
      rules: [{ host: hostName(preview, domain), http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } }],
    },
  };
}

/** availability returns undefined if all replicas are available, otherwise a message. */
export function availability({ metadata, spec, status }: Deployment): string | undefined {
  const wanted = spec?.replicas ?? 1;
  const available = status?.observedGeneration === metadata?.generation ? (status?.availableReplicas ?? 0) : 0;
  return available >= wanted ? undefined : `${available} of ${wanted} replicas are available`;
}

function labelsOf(preview: Preview): Record<string, string> {
  return { 'app.kubernetes.io/name': 'preview', 'app.kubernetes.io/instance': keyOf(preview).name };
}
