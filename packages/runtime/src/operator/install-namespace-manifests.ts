import type { Namespace } from '@bowline/kubernetes';
import { BowlineError } from '../errors/bowline-error.ts';
import type { Operator } from './operator.ts';

/**
 * installNamespaceManifests returns the namespaces of operators whose names are settings, with the labels that the
 * operators declare. Two declarations of one namespace become one object. Pass operators that `withConfig` returned;
 * else it throws BOWLINE_OPERATOR_UNCONFIGURED.
 *
 * @example
 * const namespaces = installNamespaceManifests([await withConfig(spire, { operandNamespace: 'spire' })]);
 */
export function installNamespaceManifests(operators: readonly Operator[]): readonly Namespace[] {
  const labelsByName = new Map<string, Readonly<Record<string, string>>>();
  for (const { name: operator, namespaces } of operators) {
    for (const { id, configuredName, labels } of namespaces) {
      if (configuredName === undefined) {
        throw new BowlineError(
          'BOWLINE_OPERATOR_UNCONFIGURED',
          `cannot determine the namespace ${id} of the operator ${operator}: it depends on its configuration; provide it with withConfig(operator, section)`,
        );
      }
      labelsByName.set(configuredName, { ...labelsByName.get(configuredName), ...labels });
    }
  }
  return [...labelsByName].map(([name, labels]) => ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name, ...(Object.keys(labels).length === 0 ? {} : { labels }) },
  }));
}
