import { apiVersionOf, StatefulSet } from '@bowline/kubernetes';
import type { Sample } from '@bowline/runtime';
import { IgnitionSync } from './api/ignition-sync.ts';
import { POD_ANNOTATIONS } from './api/names.ts';

/** SAMPLE is the IgnitionSync of the samples, and its Secret with credentials. */
export const SAMPLE = { namespace: 'sample-plant', name: 'plant', secret: 'plant' } as const;

/** SAMPLE_KEYS are the keys of the Secret. */
export const SAMPLE_KEYS = { token: 'git-token', hmac: 'webhook-secret', apiKey: 'gateway-api-key' } as const;

/** SAMPLE_PODS are the pods of the samples, one for each gateway. */
export const SAMPLE_PODS = ['site-0', 'area-0'] as const;

/** SampleSource is what the samples depend on. */
export interface SampleSource {
  /** The address of the repository. */
  readonly repo: string;
  /** The branch that is followed. */
  readonly ref: string;
  /** The token for the repository. */
  readonly token: string;
  /** The secret that webhooks are signed with. */
  readonly hmac: string;
  /** The API key of the gateways. */
  readonly apiKey: string;
}

/** IGNITION_USER is the user of the Ignition image. */
const IGNITION_USER = 2003;
const IMAGE = 'inductiveautomation/ignition:8.3';

/** samplesOf returns a plant with two gateways, which follow a branch of a repository. */
export function samplesOf({ repo, ref, token, hmac, apiKey }: SampleSource): readonly Sample[] {
  const { namespace, name, secret } = SAMPLE;
  const keyRef = (key: keyof typeof SAMPLE_KEYS) => ({ name: secret, key: SAMPLE_KEYS[key] });
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace, name: secret },
      data: {
        [SAMPLE_KEYS.token]: encode(token),
        [SAMPLE_KEYS.hmac]: encode(hmac),
        [SAMPLE_KEYS.apiKey]: encode(apiKey),
      },
    } as Sample,
    {
      apiVersion: apiVersionOf(IgnitionSync),
      kind: IgnitionSync.kind,
      metadata: { namespace, name },
      spec: {
        git: { repo, ref, auth: { token: { secretRef: keyRef('token') } } },
        gateway: { apiKeySecretRef: keyRef('apiKey') },
        webhook: { secretRef: keyRef('hmac') },
        shared: { scripts: { enabled: true, source: 'shared/scripts', destPath: 'ignition/script-python' } },
        normalize: { systemName: true },
        snapshots: { enabled: true },
      },
    } as Sample,
    gatewayOf('site', { [POD_ANNOTATIONS.deploymentMode]: 'dev' }),
    gatewayOf('area', {}),
  ];
}

/** gatewayOf returns the StatefulSet of a gateway whose pod requests an agent. */
function gatewayOf(name: string, annotations: Readonly<Record<string, string>>): Sample {
  const labels = { 'app.kubernetes.io/name': name };
  return {
    apiVersion: apiVersionOf(StatefulSet),
    kind: StatefulSet.kind,
    metadata: { namespace: SAMPLE.namespace, name },
    spec: {
      serviceName: name,
      replicas: 1,
      selector: { matchLabels: labels },
      template: {
        metadata: {
          labels,
          annotations: {
            [POD_ANNOTATIONS.inject]: 'true',
            [POD_ANNOTATIONS.crName]: SAMPLE.name,
            [POD_ANNOTATIONS.servicePath]: `services/${name}`,
            ...annotations,
          },
        },
        spec: {
          securityContext: {
            runAsUser: IGNITION_USER,
            runAsGroup: IGNITION_USER,
            fsGroup: IGNITION_USER,
            runAsNonRoot: true,
            seccompProfile: { type: 'RuntimeDefault' },
          },
          containers: [
            {
              name: 'gateway',
              image: IMAGE,
              ports: [{ name: 'https', containerPort: 8043 }],
              securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
              volumeMounts: [{ name: 'data', mountPath: '/usr/local/bin/ignition/data' }],
            },
          ],
        },
      },
      volumeClaimTemplates: [
        {
          metadata: { name: 'data' },
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
        },
      ],
    },
  } as Sample;
}

function encode(text: string): string {
  return Buffer.from(text).toString('base64');
}
