import { expect, it } from 'vitest';
import type { AccessQuestion } from '../client/client.ts';
import { describeAccess } from './describe-access.ts';

it.each<[AccessQuestion, string]>([
  [{ verb: 'get', resource: 'configmaps', namespace: 'a', name: 'm' }, 'get configmap m in namespace a'],
  [{ verb: 'delete', resource: 'configmaps' }, 'delete configmaps in every namespace'],
  [
    { verb: 'impersonate', resource: 'serviceaccounts', namespace: 'a', name: 'x' },
    'impersonate serviceaccount x in namespace a',
  ],
  [
    { verb: 'get', group: 'networking.k8s.io', resource: 'networkpolicies', namespace: 'a', name: 'x' },
    'get networkpolicy.networking.k8s.io x in namespace a',
  ],
  [
    { verb: 'get', group: 'networking.k8s.io', resource: 'ingresses', namespace: 'a', name: 'x' },
    'get ingress.networking.k8s.io x in namespace a',
  ],
  [{ verb: 'create', resource: 'pods', subresource: 'exec', namespace: 'a' }, 'create pods/exec in namespace a'],
])('describes %j as "%s"', (question, text) => {
  expect(describeAccess([question])).toBe(text);
});

it('separates permissions by semicolons', () => {
  const pods = { verb: 'list', resource: 'pods', namespace: 'a' };
  expect(describeAccess([pods, { ...pods, verb: 'watch' }])).toBe(
    'list pods in namespace a; watch pods in namespace a',
  );
});
