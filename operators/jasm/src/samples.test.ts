import { describe, expect, it } from 'vitest';
import { SECRET_ANNOTATIONS, SECRET_LABELS } from './api/names.ts';
import { local } from './samples.ts';

const [secrets, deployments] = local.displayedResources ?? [];

describe('the state of the samples', () => {
  it('shows the keys of a Secret and their source, but no values', () => {
    const secret = {
      metadata: {
        labels: { [SECRET_LABELS.provider]: 'mock' },
        annotations: { [SECRET_ANNOTATIONS.sourcePath]: '/shop/db', [SECRET_ANNOTATIONS.version]: '0123456789abcdef' },
      },
      data: { user: 'c2hvcA==', password: 'c2VzYW1l' },
    };
    const message = 'password, user from mock /shop/db version 01234567';
    expect(secrets?.state(secret as never)).toEqual({ isReady: true, message });
  });

  it.each([
    [{ observedGeneration: 1, availableReplicas: 1, updatedReplicas: 1 }, false, '1 of 1 pods running'],
    [{ observedGeneration: 2, availableReplicas: 1, updatedReplicas: 0 }, false, '0 of 1 pods running'],
    [{ observedGeneration: 2, availableReplicas: 1, updatedReplicas: 1 }, true, '1 of 1 pods running'],
    [undefined, false, '0 of 1 pods running'],
  ])('reports whether a Deployment with the status %j is ready: %s', (status, isReady, message) => {
    const deployment = { metadata: { generation: 2 }, spec: { replicas: 1 }, status };
    expect(deployments?.state(deployment as never)).toEqual({ isReady, message });
  });
});
