import { BowlineError, type Operator } from '@bowline/runtime';
import { didYouMean } from '../terminal/did-you-mean.ts';

/** RegisteredOperator is an operator that is loaded when it is needed. */
export interface RegisteredOperator {
  /** One line for the help. */
  readonly summary: string;
  /** The kubectl plugin that the operator declares, so that it is found without loading all operators. */
  readonly kubectlPlugin?: string | undefined;
  readonly load: () => Promise<Operator>;
}

/** Registry holds the operators that a program can run, by name. */
export type Registry = Readonly<Record<string, RegisteredOperator>>;

/**
 * loadOperators returns the named operators, in the registry's order, each once. It throws BOWLINE_OPERATOR_UNKNOWN.
 */
export async function loadOperators(registry: Registry, names: readonly string[]): Promise<readonly Operator[]> {
  const known = Object.keys(registry);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new BowlineError(
      'BOWLINE_OPERATOR_UNKNOWN',
      `unknown operator ${JSON.stringify(unknown)}${didYouMean(unknown, known)}: --operators accepts ${known.join(', ')}`,
    );
  }
  const chosen = Object.entries(registry).filter(([name]) => names.includes(name));
  return await Promise.all(chosen.map(([, { load }]) => load()));
}
