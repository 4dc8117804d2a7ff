import { apiVersionOf } from '@bowline/kubernetes';
import type { Sample } from '@bowline/runtime';
import { ConfigMapSync } from './api/config-map-sync.ts';

const WANTS_CA = { 'example.com/wants-ca': 'true' };

const namespace = (name: string, labels: Readonly<Record<string, string>> = {}): Sample => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, labels },
});

const registryCa = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'sample-platform', name: 'registry-ca' },
  data: {
    'ca.crt': 'a certificate authority that every team has to trust',
    'notes.txt': 'only for the platform team',
  },
};

const toEveryTeam: Sample & { readonly spec: object } = {
  apiVersion: apiVersionOf(ConfigMapSync),
  kind: ConfigMapSync.kind,
  metadata: { namespace: 'sample-platform', name: 'registry-ca' },
  spec: {
    sourceNamespace: 'sample-platform',
    configMapName: 'registry-ca',
    destinationSelector: { matchLabels: WANTS_CA },
    keys: { include: ['ca.crt'] },
  },
};

/** samples demonstrate the operator: one key of a ConfigMap, in every namespace that requests it with a label. */
export const samples: readonly Sample[] = [
  namespace('sample-platform'),
  namespace('sample-team-red', WANTS_CA),
  namespace('sample-team-blue', WANTS_CA),
  registryCa,
  toEveryTeam,
];
