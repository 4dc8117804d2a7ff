import type { RoleBinding, Subject } from '@bowline/kubernetes';
import { canonicalJson, dnsSubdomainProblems, type FieldProblem } from '@bowline/machinery';
import type { Draft } from '../../api-resource.ts';
import type { KindRules } from '../../built-in-strategy.ts';
import { nameProblems } from '../../names.ts';
import { AGE, as, column, wide } from '../shared/column.ts';
import type { PartialObject } from '../shared/partial-object.ts';
import { invalid, invalids, notSupported, required } from '../shared/problems.ts';

const GROUP = 'rbac.authorization.k8s.io';

/** roleBindingRules validates the subjects of a RoleBinding; its role is immutable. */
export const roleBindingRules: KindRules = bindingRules(['Role', 'ClusterRole']);

/** clusterRoleBindingRules does the same for cluster-wide permissions. */
export const clusterRoleBindingRules: KindRules = bindingRules(['ClusterRole']);

function bindingRules(roleKinds: readonly string[]): KindRules {
  return {
    applyDefaults(object) {
      const binding = as<RoleBinding>(object);
      binding.roleRef ??= {};
      binding.roleRef.apiGroup ||= GROUP;
      binding.roleRef.kind ??= '';
      binding.roleRef.name ??= '';
      for (const subject of binding.subjects ?? []) {
        if (!subject.apiGroup && (subject.kind === 'User' || subject.kind === 'Group')) subject.apiGroup = GROUP;
      }
    },
    validate: (object, old) => [
      ...roleProblems(as<RoleBinding>(object), roleKinds),
      ...(as<RoleBinding>(object).subjects ?? []).flatMap((subject, index) =>
        subjectProblems(`subjects[${index}]`, subject, roleKinds.includes('Role')),
      ),
      ...(old ? changeProblems(object, old) : []),
    ],
    columns: [
      column('Role', 'Role that the binding grants.', (object) => {
        const { kind = '', name = '' } = as<RoleBinding>(object).roleRef ?? {};
        return `${kind}/${name}`;
      }),
      AGE,
      wide('Users', 'Users that the role is granted to.', (object) => subjects(object, 'User')),
      wide('Groups', 'Groups that the role is granted to.', (object) => subjects(object, 'Group')),
      wide('ServiceAccounts', 'ServiceAccounts that the role is granted to.', (object) =>
        subjects(object, 'ServiceAccount'),
      ),
    ],
  };
}

function subjects(object: Parameters<typeof as>[0], wanted: string): string {
  return (as<RoleBinding>(object).subjects ?? [])
    .filter(({ kind }) => kind === wanted)
    .map(({ name, namespace }) => (wanted === 'ServiceAccount' ? `${namespace ?? ''}/${name}` : name))
    .join(', ');
}

function roleProblems({ roleRef = {} }: PartialObject<RoleBinding>, kinds: readonly string[]): FieldProblem[] {
  const { apiGroup = '', kind = '', name = '' } = roleRef;
  const problems: FieldProblem[] = [];
  if (apiGroup !== GROUP) problems.push(notSupported('roleRef.apiGroup', apiGroup, [GROUP]));
  if (!kinds.includes(kind)) problems.push(notSupported('roleRef.kind', kind, kinds));
  if (name === '') problems.push(required('roleRef.name'));
  else problems.push(...invalids('roleRef.name', name, nameProblems(name, 'path')));
  return problems;
}

function subjectProblems(at: string, subject: PartialObject<Subject>, isNamespaced: boolean): FieldProblem[] {
  const { kind = '', name = '', namespace = '', apiGroup = '' } = subject;
  const problems: FieldProblem[] = [];
  if (name === '') problems.push(required(`${at}.name`));
  switch (kind) {
    case 'ServiceAccount':
      if (name !== '') problems.push(...invalids(`${at}.name`, name, dnsSubdomainProblems(name)));
      if (apiGroup !== '') problems.push(notSupported(`${at}.apiGroup`, apiGroup, ['']));
      // In a namespaced binding, the namespace defaults to that of the binding.
      if (!isNamespaced && namespace === '') problems.push(required(`${at}.namespace`));
      break;
    case 'User':
    case 'Group':
      if (apiGroup !== GROUP) problems.push(notSupported(`${at}.apiGroup`, apiGroup, [GROUP]));
      break;
    default:
      problems.push(notSupported(`${at}.kind`, kind, ['ServiceAccount', 'User', 'Group']));
  }
  return problems;
}

function changeProblems(object: Draft, old: Draft): FieldProblem[] {
  if (canonicalJson(object.roleRef ?? null) === canonicalJson(old.roleRef ?? null)) return [];
  const { apiGroup, kind, name } = as<RoleBinding>(object).roleRef ?? {};
  // In the form of the API server's own types.
  const shown = JSON.stringify({ APIGroup: apiGroup, Kind: kind, Name: name });
  return [{ ...invalid('roleRef', '', ''), message: `Invalid value: ${shown}: cannot change roleRef` }];
}
