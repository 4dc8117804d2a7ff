import type { CustomResourceDefinitionNames } from '@bowline/kubernetes';
import { dns1035LabelProblems, dnsSubdomainProblems, type FieldProblem } from '@bowline/machinery';
import { invalid, invalids, required } from '../registry/kinds/shared/problems.ts';

/** groupProblems returns the problems of a definition's group. */
export function groupProblems(group: string): FieldProblem[] {
  if (group === '') return [required('spec.group')];
  const problems = dnsSubdomainProblems(group);
  if (problems.length > 0) return [invalid('spec.group', group, problems.join(','))];
  return group.includes('.') ? [] : [invalid('spec.group', group, 'should be a domain with at least one dot')];
}

/** nameProblems returns the problems of the names of a kind. */
export function nameProblems(names: CustomResourceDefinitionNames, path = 'spec.names'): FieldProblem[] {
  const { plural, singular = '', kind, listKind = '' } = names;
  const problems: FieldProblem[] = [];
  if (!plural) problems.push(required(`${path}.plural`));
  if (!singular) problems.push(required(`${path}.singular`));
  if (!kind) problems.push(required(`${path}.kind`));
  if (!listKind) problems.push(required(`${path}.listKind`));
  if (plural) problems.push(...labels(`${path}.plural`, plural));
  if (singular) problems.push(...labels(`${path}.singular`, singular));
  if (kind) problems.push(...kinds(`${path}.kind`, kind));
  if (listKind) problems.push(...kinds(`${path}.listKind`, listKind));
  for (const [index, name] of (names.shortNames ?? []).entries())
    problems.push(...labels(`${path}.shortNames[${index}]`, name));
  if (kind && kind === listKind)
    problems.push(invalid(`${path}.listKind`, listKind, 'kind and listKind may not be the same'));
  for (const [index, name] of (names.categories ?? []).entries())
    problems.push(...labels(`${path}.categories[${index}]`, name));
  return problems;
}

/** labels returns the problems of a name that must be a DNS label. */
export function labels(field: string, name: string): FieldProblem[] {
  return invalids(field, name, dns1035LabelProblems(name).length > 0 ? [dns1035LabelProblems(name).join(',')] : []);
}

function kinds(field: string, kind: string): FieldProblem[] {
  const problems = dns1035LabelProblems(kind.toLowerCase());
  if (problems.length === 0) return [];
  return [invalid(field, kind, `may have mixed case, but should otherwise match: ${problems.join(',')}`)];
}
