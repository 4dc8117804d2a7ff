import { expect, it } from 'vitest';
import { manifests } from './manifests.ts';

it('prints all that an administrator applies, in an order that works', () => {
  expect(manifests('shop/previews:1').map(({ kind, metadata }) => `${kind} ${metadata?.name}`)).toEqual([
    'Namespace previews',
    'CustomResourceDefinition previews.example.bowline.dev',
    'ServiceAccount previews',
    'ClusterRole bowline-previews',
    'ClusterRoleBinding bowline-previews',
    'Role bowline-previews',
    'RoleBinding bowline-previews',
    'Deployment previews',
    'Service previews-webhook',
    'ValidatingWebhookConfiguration bowline-previews',
  ]);
});
