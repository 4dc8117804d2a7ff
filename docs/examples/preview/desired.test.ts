import { expect, it } from 'vitest';
import { availability, desiredDeployment, desiredIngress, expiryOf } from './desired.ts';
import { Preview } from './preview.ts';

const preview = Preview.withDefaults({
  metadata: { namespace: 'shop', name: 'pr-42', creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: { image: 'registry.example.com/shop:pr-42', host: 'pr-42' },
});

it('keeps a preview for 72 hours from its creation on', () => {
  expect(expiryOf(preview)).toBe(Date.UTC(2026, 0, 4));
});

it('runs the image, and leads the host to it', () => {
  const deployment = desiredDeployment(preview);
  expect(deployment.spec?.template.spec?.containers).toMatchObject([{ image: 'registry.example.com/shop:pr-42' }]);
  expect(deployment.spec?.selector.matchLabels).toEqual(deployment.spec?.template.metadata?.labels);
  expect(desiredIngress(preview, 'preview.example.com').spec?.rules?.[0]?.host).toBe('pr-42.preview.example.com');
});

it.each([
  ['nothing is known yet', {}, '0 of 2 replicas are available'],
  ['one Pod serves', { observedGeneration: 3, availableReplicas: 1 }, '1 of 2 replicas are available'],
  [
    'the status is about an older generation',
    { observedGeneration: 2, availableReplicas: 2 },
    '0 of 2 replicas are available',
  ],
  ['all Pods serve', { observedGeneration: 3, availableReplicas: 2 }, undefined],
])('says what is missing when %s', (_, status, missing) => {
  const { spec } = desiredDeployment({ ...preview, spec: { ...preview.spec, replicas: 2 } });
  expect(availability({ metadata: { generation: 3 }, ...(spec && { spec }), status })).toBe(missing);
});
