import { expect, it } from 'vitest';
import { availability, desiredDeployment, desiredIngress, expiryOf } from './desired.ts';
import { Preview } from './preview.ts';

const preview = Preview.withDefaults({
  metadata: { namespace: 'shop', name: 'pr-42', creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: { image: 'registry.example.com/shop:pr-42', host: 'pr-42' },
});

it('expires a preview 72 hours after its creation', () => {
  expect(expiryOf(preview)).toBe(Date.UTC(2026, 0, 4));
});

it('runs the image, and routes the host to it', () => {
  const deployment = desiredDeployment(preview);
  expect(deployment.spec?.template.spec?.containers).toMatchObject([{ image: 'registry.example.com/shop:pr-42' }]);
  expect(deployment.spec?.selector.matchLabels).toEqual(deployment.spec?.template.metadata?.labels);
  expect(desiredIngress(preview, 'preview.example.com').spec?.rules?.[0]?.host).toBe('pr-42.preview.example.com');
});

it.each([
  ['the status is empty', {}, '0 of 2 replicas are available'],
  ['one Pod is available', { observedGeneration: 3, availableReplicas: 1 }, '1 of 2 replicas are available'],
  [
    'the status is about an older generation',
    { observedGeneration: 2, availableReplicas: 2 },
    '0 of 2 replicas are available',
  ],
  ['all Pods are available', { observedGeneration: 3, availableReplicas: 2 }, undefined],
])('reports the missing replicas when %s', (_, status, missing) => {
  const { spec } = desiredDeployment({ ...preview, spec: { ...preview.spec, replicas: 2 } });
  expect(availability({ metadata: { generation: 3 }, ...(spec && { spec }), status })).toBe(missing);
});
