import { withCompanionConfig } from './companion.ts';
import type { Operator } from './operator.ts';
import { readConfig } from './operator-config.ts';

/**
 * withConfig returns an operator with the permissions and companions that a configuration requires. `section` is its
 * section as written; undefined means an empty one. An operator that has no companions, and whose permissions do not
 * depend on the configuration, is returned unchanged. Throws BOWLINE_CONFIG_INVALID.
 *
 * @example
 * const manifests = rbacManifests(await withConfig(jasm, { allowDeletion: true }), { namespace: 'bowline-system' });
 */
export async function withConfig(operator: Operator, section: unknown): Promise<Operator> {
  const { name, config, permissions, companions } = operator;
  if (typeof permissions !== 'function' && companions.every(({ isConfigured }) => isConfigured)) return operator;
  // `defineOperator` checked the function against the type of the configuration.
  const parsed = (await readConfig(name, config, section)) as never;
  return Object.freeze({
    ...operator,
    permissions: typeof permissions === 'function' ? permissions(parsed) : permissions,
    companions: companions.map((each) => (each.isConfigured ? each : withCompanionConfig(each, parsed))),
  });
}
