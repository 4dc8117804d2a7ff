import { quoteText } from '@bowline/machinery';
import { BowlineError } from '@bowline/runtime';
import type { Policy } from './permit.ts';

/**
 * checkRules throws BOWLINE_CONFIG_INVALID if a rule names an unknown provider: it would allow nothing, and its author
 * would only see that no rule allows what pods request.
 */
export function checkRules({ policy = [] }: Pick<Policy, 'policy'>, providers: readonly string[]): void {
  const problems = policy.flatMap(({ provider }, index) =>
    providers.includes(provider) ? [] : [`jasm.policy[${index}].provider: unknown provider ${quoteText(provider)}`],
  );
  if (problems.length === 0) return;
  throw new BowlineError(
    'BOWLINE_CONFIG_INVALID',
    `${problems.join('; ')}; supported providers: ${providers.join(', ')}${providers.includes('mock') ? '' : ', and mock if mock.enabled is set'}`,
  );
}
