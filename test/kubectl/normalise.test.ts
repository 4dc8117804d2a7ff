import { describe, expect, it } from 'vitest';
import { normalised } from './normalise.ts';

describe('a normalised output', () => {
  it.each([
    ['web-7875bf7fbf-x2x4z   1/1     Running   0   2m13s', 'web-<hash>-<random>  1/1  Running  0  <age>'],
    ['  resourceVersion: "4711"', '  resourceVersion: "<version>"'],
    ['  creationTimestamp: "2026-11-16T04:05:06Z"', '  creationTimestamp: "<time>"'],
    ['Start Time:       Mon, 16 Nov 2026 04:05:06 +0000', 'Start Time:  <time>'],
    ['Scaled up   5s (x3 over 1h2m)  from 0 to 2', 'Scaled up  <age>  from 0 to 2'],
    ['Node:   bowline-2/10.244.0.2', 'Node:  <node>/<address>'],
    ['Waiting for deployment "web" rollout to finish\ndone', 'done'],
    [
      'Events:\n  Type    Reason\n  ----    ------    ----\n  Normal  B  2s\n  Normal  A  2s\n$ next',
      'Events:\n  Type  Reason\n  ----  ------  ----\n  Normal  A  <age>\n  Normal  B  <age>\n$ next',
    ],
    ['in test-1 of test-1', 'in NAMESPACE of NAMESPACE'],
  ])('reduces %j to %j', (output, expected) => {
    expect(normalised(output, { 'test-1': 'NAMESPACE' })).toBe(expected);
  });

  it.each(['  - name: web', 'deployment.apps/shop  2/2  2  2', 'image: registry.example/shop:2', 'crew: 3'])(
    'does not change %j',
    (output) => {
      expect(normalised(output)).toBe(output);
    },
  );
});
