import { expect, it } from 'vitest';
import { checkRules } from './check-rules.ts';

const rule = (provider: string) => ({ namespaces: ['shop'], provider, paths: ['**'] });

it('takes rules about providers that there are, and no rules at all', () => {
  expect(() => checkRules({ policy: [rule('vault'), rule('mock')] }, ['vault', 'mock'])).not.toThrow();
  expect(() => checkRules({ policy: [] }, ['vault'])).not.toThrow();
  expect(() => checkRules({}, ['vault'])).not.toThrow();
});

it('refuses rules about others, says which they are, and lists the providers', () => {
  const policy = [rule('valt'), rule('vault'), rule('mock')];
  expect(() => checkRules({ policy }, ['aws-secretsmanager', 'vault'])).toThrow(
    expect.objectContaining({
      code: 'BOWLINE_CONFIG_INVALID',
      message:
        'jasm.policy[0].provider: unknown provider "valt"; jasm.policy[2].provider: unknown provider "mock"; supported providers: aws-secretsmanager, vault, and mock if mock.enabled is set',
    }),
  );
});
