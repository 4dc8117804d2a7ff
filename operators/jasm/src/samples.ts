import { Deployment, Secret } from '@bowline/kubernetes';
import { OWN_NAMESPACE, type Sample, show } from '@bowline/runtime';
import type { LocalUse } from '@bowline/runtime/manager';
import { MANAGED_BY, OUR_MANAGERS, POD_ANNOTATIONS, SECRET_ANNOTATIONS, SECRET_LABELS } from './api/names.ts';
import { MOCK_SECRET, mockSecretData } from './providers/mock/mock-values.ts';

const NAMESPACE = 'sample-shop';
const PATH = '/shop/database';
const SAMPLE = { 'app.kubernetes.io/part-of': 'jasm-sample' };

const namespace: Sample = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } };

const store = {
  apiVersion: 'v1',
  kind: Secret.kind,
  metadata: { namespace: OWN_NAMESPACE, name: MOCK_SECRET },
  data: mockSecretData(new Map([[PATH, { username: 'shop', password: 'correct-horse' }]])),
};

/** Its pods get the Secret as environment variables; on a real cluster they start once it exists. */
const web = {
  apiVersion: 'apps/v1',
  kind: Deployment.kind,
  metadata: { namespace: NAMESPACE, name: 'web', labels: SAMPLE },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: {
        labels: { app: 'web' },
        annotations: {
          [POD_ANNOTATIONS.secretSync]: `provider: mock\npath: ${PATH}\nsecretName: database\n`,
        },
      },
      spec: {
        containers: [{ name: 'web', image: 'nginx', envFrom: [{ secretRef: { name: 'database' } }] }],
      },
    },
  },
};

/** samples demonstrate the operator: a Deployment whose pods request a secret of the mock. */
export const samples: readonly Sample[] = [namespace, store, web];

/** local configures a local trial: with the mock, whose secrets are made up, and without a policy. */
export const local: LocalUse = {
  config: { allowAllPaths: true, mock: { enabled: true } },
  warning:
    'every pod may request every path (allowAllPaths), and the provider mock is enabled; in a cluster, configure a policy',
  displayedResources: [
    show(Secret, {
      labelSelector: `${MANAGED_BY} in (${OUR_MANAGERS.join(',')}),${SECRET_LABELS.provider}`,
      awaits: [`${NAMESPACE}/database`],
      state: (secret) => ({ isReady: true, message: describeSecret(secret) }),
    }),
    show(Deployment, {
      labelSelector: Object.entries(SAMPLE)
        .map(([label, value]) => `${label}=${value}`)
        .join(','),
      awaits: [`${NAMESPACE}/web`],
      state: deploymentState,
    }),
  ],
  suggestedCommands: [
    `bowline jasm mock set ${PATH} username=shop password=battery-staple`,
    `kubectl rollout restart deployment/web -n ${NAMESPACE}`,
  ],
};

/** The names of keys are not confidential; their values are. */
function describeSecret({ data = {}, metadata }: Secret): string {
  const { labels, annotations } = metadata ?? {};
  const version = annotations?.[SECRET_ANNOTATIONS.version];
  return [
    `${Object.keys(data).sort().join(', ')} from ${labels?.[SECRET_LABELS.provider]}`,
    annotations?.[SECRET_ANNOTATIONS.sourcePath],
    ...(version === undefined ? [] : [`version ${version.slice(0, 8)}`]),
  ].join(' ');
}

function deploymentState({ metadata, spec, status }: Deployment): { isReady: boolean; message: string } {
  const wanted = spec?.replicas ?? 1;
  const isCurrent = status?.observedGeneration === metadata?.generation;
  const running = Math.min(status?.availableReplicas ?? 0, status?.updatedReplicas ?? 0);
  return { isReady: isCurrent && running >= wanted, message: `${running} of ${wanted} pods running` };
}
