import { expect, it } from 'vitest';
import { checkRules } from './check-rules.ts';

const rule = (provider: string) => ({ namespaces: ['shop'], provider, paths: ['**'] });

it('accepts rules for existing providers, and no rules', () => {
  expect(() => checkRules({ policy: [rule('vault'), rule('mock')] }, ['vault', 'mock'])).not.toThrow();
  expect(() => checkRules({ policy: [] }, ['vault'])).not.toThrow();
  expect(() => checkRules({}, ['vault'])).not.toThrow();
});

it('rejects rules for unknown providers, names them, and lists the supported ones', () => {
  const policy = [rule('valt'), rule('vault'), rule('mock')];
  expect(() => checkRules({ policy }, ['aws-secretsmanager', 'vault'])).toThrow(
    expect.objectContaining({
      code: 'BOWLINE_CONFIG_INVALID',
      message:
        'jasm.policy[0].provider: unknown provider "valt"; jasm.policy[2].provider: unknown provider "mock"; supported providers: aws-secretsmanager, vault, and mock if mock.enabled is set',
    }),
  );
});
