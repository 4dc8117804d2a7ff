import { expect, it } from 'vitest';
import { manifests } from './manifests.ts';

it('returns all manifests in the order in which they can be applied', () => {
  expect(manifests('shop/previews:1').map(({ kind, metadata }) => `${kind} ${metadata?.name}`)).toEqual([
    'Namespace previews',
    'CustomResourceDefinition previews.example.com',
    'ServiceAccount previews',
    'ClusterRole example-previews',
    'ClusterRoleBinding example-previews',
    'Role example-previews',
    'RoleBinding example-previews',
    'Deployment previews',
    'Service previews-webhook',
    'ValidatingWebhookConfiguration example-previews',
  ]);
});
