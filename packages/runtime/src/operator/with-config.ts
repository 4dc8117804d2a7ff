import type { Operator } from './operator.ts';
import { readConfig } from './operator-config.ts';

/**
 * withConfig is an operator as a configuration makes it: permissions that follow from the configuration are those that this one
 * needs. `section` is its section as written; undefined is an empty one. One whose permissions follow from nothing is given back as it is.
 * Throws BOWLINE_CONFIG_INVALID.
 *
 * @example
 * const manifests = rbacManifests(await withConfig(jasm, { allowDeletion: true }), { namespace: 'bowline-system' });
 */
export async function withConfig(operator: Operator, section: unknown): Promise<Operator> {
  const { name, config, permissions } = operator;
  if (typeof permissions !== 'function') return operator;
  // `defineOperator` held the function and the type of the configuration together.
  const parsed = (await readConfig(name, config, section)) as never;
  return Object.freeze({ ...operator, permissions: permissions(parsed) });
}
