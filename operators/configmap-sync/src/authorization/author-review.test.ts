import type { ValidatingWebhookConfiguration } from '@bowline/kubernetes';
import { webhookConfigurations } from '@bowline/runtime/install';
import { webhookFullName } from '@bowline/runtime/webhook';
import { expect, test } from 'vitest';
import { OPERATOR } from '../api/names.ts';
import { review } from '../webhooks/validate.ts';
import { authors } from './author-review.ts';

const { validating: installed } = webhookConfigurations({
  operator: OPERATOR.name,
  domain: OPERATOR.domain,
  webhooks: [review],
  address: { service: { namespace: 'system', name: 'webhook' } },
  ownNamespace: 'system',
});

function isTrusted(
  namespace: string,
  configurations: readonly ValidatingWebhookConfiguration[],
  trustAllAuthors = false,
) {
  const deps = { config: { trustAllAuthors }, ownNamespace: 'system', namespaces: undefined };
  return authors.isTrustedIn({ list: () => configurations, deps }, namespace);
}

test('authors are reviewed everywhere but in the namespace of the manager if the rendered configuration is installed', () => {
  const configurations = installed ? [installed] : [];
  expect(webhookFullName(OPERATOR, review)).toBe('review.configmap-sync.bowline.dev');
  expect(isTrusted('team', configurations)).toBe(true);
  expect(isTrusted('kube-system', configurations)).toBe(true);
  expect(isTrusted('system', configurations)).toBe(false);
});

test('authors are not reviewed if nothing is installed, and can be trusted all the same', () => {
  expect(isTrusted('team', [])).toBe(false);
  expect(isTrusted('team', [], true)).toBe(true);
  expect(isTrusted('system', [], true)).toBe(true);
});
