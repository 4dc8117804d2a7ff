import { expect, it } from 'vitest';
import { domainProblem, fieldManagerOf, operatorIdentity } from './operator-identity.ts';

it('does not change the names of the operators of bowline.dev, which stored objects contain', () => {
  const operator = { name: 'configmap-sync', domain: 'bowline.dev' };
  expect(operatorIdentity(operator)).toEqual({
    ...operator,
    vendor: 'bowline',
    objectName: 'bowline-configmap-sync',
    systemNamespace: 'bowline-system',
    annotations: {
      paused: 'bowline.dev/paused',
      deletion: 'bowline.dev/deletion',
      previousAuthorityUntil: 'webhook.bowline.dev/previous-ca-until',
    },
    labels: {
      webhooksOf: 'webhook.bowline.dev/operator',
      installedIn: 'bowline.dev/installed-in',
      companion: 'bowline.dev/companion',
    },
    fieldManagers: {
      operator: 'bowline-configmap-sync',
      webhooks: 'bowline-configmap-sync-webhooks',
      leaderElection: 'bowline-leader-election',
      crds: 'bowline-crds',
      install: 'bowline-configmap-sync-install',
    },
  });
  expect(fieldManagerOf(operator, 'configmapsync')).toBe('bowline-configmap-sync-configmapsync');
});

it('joins the labels of a domain with hyphens', () => {
  const { vendor, objectName, annotations } = operatorIdentity({ name: 'pages', domain: 'platform.example.org' });
  expect([vendor, objectName, annotations.paused]).toEqual([
    'platform-example',
    'platform-example-pages',
    'platform.example.org/paused',
  ]);
});

it.each([
  ['example.com', true],
  ['a.b.c-d.example', true],
  ['example', false],
  ['Example.com', false],
  ['example.com.', false],
  ['-example.com', false],
  ['example..com', false],
  [`${'x'.repeat(64)}.com`, false],
  [`${'x.'.repeat(100)}com`, false],
  [undefined, false],
])('validates the domain %s', (domain, isOne) => {
  expect(domainProblem(domain) === undefined).toBe(isOne);
});
