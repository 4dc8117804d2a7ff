import { describe, expect, it } from 'vitest';
import { SECRET_ANNOTATIONS, SECRET_LABELS } from './api/names.ts';
import { local } from './samples.ts';

const [secrets, deployments] = local.shows ?? [];

describe('what is shown of the samples', () => {
  it('tells the keys of a Secret and where they come from, and never a value', () => {
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
  ])('takes a Deployment with the status %j for ready: %s', (status, isReady, message) => {
    const deployment = { metadata: { generation: 2 }, spec: { replicas: 1 }, status };
    expect(deployments?.state(deployment as never)).toEqual({ isReady, message });
  });
});
