import { customResourceDefinition, rbacManifests } from '@bowline/runtime';
import { greeter } from './greeter.ts';

/** manifests is what an administrator applies: the CRD, and a ServiceAccount with exactly the rights that the greeter declares. */
export const manifests = [
  ...greeter.resources.map(customResourceDefinition),
  ...rbacManifests(greeter, { namespace: 'bowline-system' }),
];
