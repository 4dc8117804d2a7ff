import { compileRules } from '../cel/compile-rules.ts';
import { resolveFieldPath } from '../cel/field-path.ts';
import { BowlineError } from '../errors/bowline-error.ts';
import type { StructuralSchema } from '../structural-schema/structural-schema.ts';
import { checkCost } from './check-cost.ts';
import {
  pluralOf,
  type ResourceDefinition,
  resourceSchema,
  type VersionDefinition,
  versionsOf,
} from './resource-definition.ts';

const LABEL = /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/;
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$/;
const MAX_SELECTABLE_FIELDS = 8;

/**
 * checkDefinition throws `BOWLINE_CRD_INVALID` for a kind that the API server would reject, or that refers to missing
 * fields.
 */
export function checkDefinition(definition: ResourceDefinition): void {
  const problems = [...checkNames(definition), ...checkVersions(definition)];
  const [first] = problems;
  if (first === undefined) return;
  const more = problems.length === 1 ? '' : ` (and ${problems.length - 1} more)`;
  throw new BowlineError(
    'BOWLINE_CRD_INVALID',
    `cannot define the kind ${definition.kind} of ${definition.group}: ${first}${more}`,
  );
}

function checkNames(definition: ResourceDefinition): string[] {
  const { group, kind, shortNames = [], categories = [] } = definition;
  const problems: string[] = [];
  if (!SUBDOMAIN.test(group))
    problems.push(`the group ${JSON.stringify(group)} is not a domain name; use one with a dot, such as example.com`);
  if (!/^[A-Z]/.test(kind)) problems.push(`the kind ${JSON.stringify(kind)} does not start with a capital letter`);
  const words: readonly (readonly [string, string])[] = [
    ['kind', kind.toLowerCase()],
    ['plural', pluralOf(definition)],
    ['singular', definition.singular ?? kind.toLowerCase()],
    ...shortNames.map((name) => ['short name', name] as const),
    ...categories.map((name) => ['category', name] as const),
  ];
  for (const [what, word] of words) {
    if (!LABEL.test(word))
      problems.push(
        `the ${what} ${JSON.stringify(word)} is not a valid name; use at most 63 lower case letters, digits and dashes`,
      );
  }
  return problems;
}

function checkVersions(definition: ResourceDefinition): string[] {
  const versions = versionsOf(definition);
  const names = versions.map(({ version }) => version);
  const problems: string[] = [];
  const stored = versions.filter(({ storage }) => storage).length;
  if (stored !== 1) problems.push(`${stored} versions are stored; mark exactly one with storage: true`);
  if (new Set(names).size < names.length) problems.push(`a version is defined twice: ${names.join(', ')}`);
  return [...problems, ...versions.flatMap(checkVersion)];
}

function checkVersion(version: VersionDefinition): string[] {
  const root = resourceSchema(version);
  const inVersion = (problem: string): string => `version ${version.version}: ${problem}`;
  const problems: string[] = [];
  if (!LABEL.test(version.version)) problems.push('the name is not valid; use v1, v1beta1, …');
  for (const [what, schema] of [
    ['spec', version.spec],
    ['status', version.status],
  ] as const) {
    if (schema !== undefined && schema.json.type !== 'object')
      problems.push(`the ${what} is of type ${schema.json.type ?? 'unknown'}; it must be an object`);
  }
  problems.push(...compileRules(root, { isResource: true }).problems.map(({ problem }) => problem));
  problems.push(
    ...checkCost(root, { isResource: true }).map(({ path, problem }) =>
      path === '' ? problem : `${path}: ${problem}`,
    ),
  );
  problems.push(...(version.columns ?? []).flatMap((column) => checkColumn(column, root)));
  problems.push(...checkSelectable(version.selectableFields ?? [], root), ...checkScale(version, root));
  if (
    typeof version.deprecated === 'string' &&
    (version.deprecated === '' || version.deprecated.length > 256 || /[\r\n]/.test(version.deprecated))
  )
    problems.push('the deprecation warning must be one line of 1 to 256 characters');
  return problems.map(inVersion);
}

function checkColumn(
  { name, path }: { readonly name: string; readonly path: string },
  root: StructuralSchema,
): string[] {
  if (name === '') return ['a column has no name'];
  if (!path.startsWith('.'))
    return [`the path ${JSON.stringify(path)} of the column ${name} must start with a dot, as in .spec.size`];
  // The API server defines the fields of metadata; paths are checked up to the first filter or wildcard.
  const simple = /^(?:\.[\w-]+)+/.exec(path)?.[0] ?? '';
  if (simple === '' || simple.startsWith('.metadata')) return [];
  const found = resolveFieldPath(simple, root);
  return 'problem' in found ? [`the path ${path} of the column ${name} ${found.problem}`] : [];
}

function checkSelectable(paths: readonly string[], root: StructuralSchema): string[] {
  const problems = paths.flatMap((path) => {
    if (path.startsWith('.metadata'))
      return [`the selectable field ${path} is in metadata, where only name and namespace can be selected`];
    const found = path.includes('[')
      ? { problem: 'has an index; specify a field without an index' }
      : resolveFieldPath(path, root);
    if ('problem' in found) return [`the selectable field ${path} ${found.problem}`];
    const isScalar = ['string', 'boolean', 'integer'].includes(found.schema.type ?? '');
    return isScalar ? [] : [`the selectable field ${path} must be a string, a boolean or an integer`];
  });
  if (paths.length > MAX_SELECTABLE_FIELDS)
    problems.push(
      `there are ${paths.length} selectable fields; the API server accepts at most ${MAX_SELECTABLE_FIELDS}`,
    );
  if (new Set(paths).size < paths.length) problems.push('a selectable field is listed twice');
  return problems;
}

function checkScale({ scale }: VersionDefinition, root: StructuralSchema): string[] {
  if (scale === undefined) return [];
  const check = (path: string, prefix: RegExp, type: string): string[] => {
    if (!prefix.test(path)) return [`the scale path ${path} must match ${prefix.source}`];
    const found = resolveFieldPath(path, root);
    if ('problem' in found) return [`the scale path ${path} ${found.problem}`];
    return found.schema.type === type ? [] : [`the scale path ${path} must be of type ${type}`];
  };
  return [
    ...check(scale.specReplicasPath, /^\.spec\./, 'integer'),
    ...check(scale.statusReplicasPath, /^\.status\./, 'integer'),
    ...(scale.labelSelectorPath === undefined ? [] : check(scale.labelSelectorPath, /^\.(?:spec|status)\./, 'string')),
  ];
}
