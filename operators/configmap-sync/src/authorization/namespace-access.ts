import type { FieldProblem } from '@bowline/machinery';
import type { TargetSpec } from '../targets/resolve-targets.ts';

/**
 * namespaceAccessProblems returns what a spec requests outside of the namespaces that the manager is limited to. Rights
 * there cannot be reviewed, but would count as reviewed once the manager works there too.
 */
export function namespaceAccessProblems(
  spec: TargetSpec,
  namespace: string,
  namespaces: readonly string[] | undefined,
): readonly FieldProblem[] {
  if (namespaces === undefined) return [];
  const accessible = namespaces.join(', ');
  const forbidden = (field: string, problem: string): FieldProblem => ({
    field,
    reason: 'FieldValueForbidden',
    message: `Forbidden: ${problem}`,
  });
  const outside = (field: string, name: string | undefined): readonly FieldProblem[] =>
    name === undefined || namespaces.includes(name)
      ? []
      : [forbidden(field, `the manager has no access to namespace ${name}; use one of its namespaces: ${accessible}`)];
  const { destinations = [] } = spec;
  return [
    ...outside('metadata.namespace', namespace),
    ...outside('spec.sourceNamespace', spec.sourceNamespace),
    ...outside('spec.destinationNamespace', spec.destinationNamespace),
    ...destinations.flatMap((each, index) => outside(`spec.destinations[${index}].namespace`, each.namespace)),
    ...(spec.destinationSelector
      ? [
          forbidden(
            'spec.destinationSelector',
            `the manager is limited to the namespaces ${accessible}; list the destinations by name`,
          ),
        ]
      : []),
  ];
}
