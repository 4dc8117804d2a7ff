import type { KubernetesObject } from '@bowline/kubernetes';
import { customResourceDefinition, rbacManifests } from '@bowline/runtime/install';
import { greeter } from './greeter.ts';

const namespace = 'example-system';

/** manifests holds what an administrator applies: the CRD, and a ServiceAccount with the permissions of the greeter. */
export const manifests: readonly KubernetesObject[] = [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
  ...greeter.resources.map(customResourceDefinition),
  ...rbacManifests(greeter, { namespace }),
];
