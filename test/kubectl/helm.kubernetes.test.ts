import { describe, it } from 'vitest';
import { compareSession, embeddedControlPlane } from './compare.ts';
import type { Step } from './terminal.ts';
import { toolSets } from './tools.ts';

const embedded = embeddedControlPlane();

const steps: readonly Step[] = [
  'mkdir fleet/crds && cp crd.yaml fleet/crds',
  'helm lint fleet --quiet',
  'helm install north fleet --dry-run=server',
  'helm install north fleet --wait',
  'helm install north fleet',
  'helm list',
  { unordered: 'helm status north' },
  'kubectl get boats,deployments,configmaps --show-labels',
  'kubectl get deployment north -o yaml',
  'kubectl get secrets -l owner=helm --show-labels',
  'helm get values north --all',
  'helm upgrade north fleet --wait --set crew=5,replicas=2,greeting=ahoy',
  'kubectl get boats,deployments -o wide',
  'kubectl get configmap north -o yaml',
  'helm upgrade north fleet --set crew=50',
  'helm history north',
  'helm rollback north 1',
  'kubectl rollout status deployment/north',
  'kubectl get boats,deployments',
  'helm get manifest north',
  'helm test north',
  'helm uninstall north --wait',
  'helm list --all',
  'kubectl get boats,deployments,configmaps,secrets',
  'kubectl delete crd boats.NAMESPACE.example.com',
];

describe.each(toolSets)('helm $helm', (set) => {
  it(
    'installs, upgrades and removes a chart with a custom kind identically on both control planes',
    {
      timeout: 300_000,
    },
    (context) => compareSession(steps, set, embedded, context),
  );
});
