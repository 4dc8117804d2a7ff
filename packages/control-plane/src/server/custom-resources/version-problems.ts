import type { CustomResourceDefinitionVersion } from '@bowline/kubernetes';
import type { FieldProblem } from '@bowline/machinery';
import { resolveFieldPath, type StructuralSchema } from '@bowline/machinery/schema';
import { duplicate, forbidden, invalid, required, tooMany } from '../registry/kinds/shared/problems.ts';
import { defaultProblems } from './default-problems.ts';
import { ruleProblems } from './rule-problems.ts';
import { schemaProblems } from './schema-problems.ts';
import { structuralProblems } from './structural-problems.ts';

const MAX_SELECTABLE = 8;
const COLUMN_TYPES = ['boolean', 'date', 'integer', 'number', 'string'];
const COLUMN_FORMATS = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'];

/**
 * Parts holds the paths that messages use for the parts of a version: parts that are equal in all versions belong to
 * the definition.
 */
export interface Parts {
  readonly schema: string;
  readonly columns: string;
  readonly subresources: string;
  readonly selectable: string;
}

type Version = Omit<CustomResourceDefinitionVersion, 'name' | 'served' | 'storage'>;

/**
 * versionSchemaProblems returns the problems of the schema of a version. Rules are compiled only if nothing else is
 * wrong.
 */
export function versionSchemaProblems(version: Version, { schema: path }: Parts, isUnchanged: boolean): FieldProblem[] {
  const schema = version.schema?.openAPIV3Schema;
  if (!schema) return [required(path)];
  const problems: FieldProblem[] = [];
  if (schema.nullable === true) problems.push(forbidden(`${path}.nullable`, 'nullable cannot be true at the root'));
  problems.push(...schemaProblems(schema, path));
  const structural = structuralProblems(schema, path);
  problems.push(...structural);
  if (problems.length > 0) return problems;
  problems.push(...defaultProblems(schema, path));
  return problems.length > 0 ? problems : ruleProblems(schema, path, isUnchanged);
}

/** columnProblems returns the problems of the columns of a version. */
export function columnProblems({ additionalPrinterColumns = [] }: Version, { columns }: Parts): FieldProblem[] {
  const problems: FieldProblem[] = [];
  for (const [index, { name, type, format, jsonPath }] of additionalPrinterColumns.entries()) {
    const at = `${columns}[${index}]`;
    if (!name) problems.push(required(`${at}.name`));
    const types = `must be one of ${COLUMN_TYPES.join(',')}`;
    if (!type) problems.push(required(`${at}.type`, types));
    else if (!COLUMN_TYPES.includes(type)) problems.push(invalid(`${at}.type`, type, types));
    if (format && !COLUMN_FORMATS.includes(format))
      problems.push(invalid(`${at}.format`, format, `must be one of ${COLUMN_FORMATS.join(',')}`));
    if (!jsonPath) problems.push(required(`${at}.JSONPath`));
    else problems.push(...simplePath(`${at}.JSONPath`, jsonPath));
  }
  return problems;
}

/** subresourceProblems returns the problems of the paths of a scale. */
export function subresourceProblems({ subresources }: Version, { subresources: path }: Parts): FieldProblem[] {
  const scale = subresources?.scale;
  if (!scale) return [];
  const at = `${path}.scale`;
  const check = (field: string, value: string, roots: readonly string[], where: string): FieldProblem[] => {
    const problems = simplePath(`${at}.${field}`, value);
    if (problems.length > 0) return problems;
    if (roots.some((root) => value.startsWith(`${root}.`))) return [];
    return [invalid(`${at}.${field}`, value, `should be a json path under ${where}`)];
  };
  const { specReplicasPath, statusReplicasPath, labelSelectorPath } = scale;
  return [
    ...(specReplicasPath
      ? check('specReplicasPath', specReplicasPath, ['.spec'], '.spec')
      : [required(`${at}.specReplicasPath`)]),
    ...(statusReplicasPath
      ? check('statusReplicasPath', statusReplicasPath, ['.status'], '.status')
      : [required(`${at}.statusReplicasPath`)]),
    ...(labelSelectorPath
      ? check('labelSelectorPath', labelSelectorPath, ['.spec', '.status'], 'either .spec or .status')
      : []),
  ];
}

function simplePath(field: string, path: string): FieldProblem[] {
  return path.startsWith('.') ? [] : [invalid(field, path, 'must be a simple json path starting with .')];
}

/** selectableProblems returns the problems of the selectable fields. */
export function selectableProblems({ selectableFields = [], schema }: Version, { selectable }: Parts): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const seen = new Set<string>();
  const root = (schema?.openAPIV3Schema ?? {}) as StructuralSchema;
  for (const [index, { jsonPath }] of selectableFields.entries()) {
    const at = `${selectable}[${index}].jsonPath`;
    if (!jsonPath) problems.push(required(at));
    else if (seen.has(jsonPath)) problems.push(duplicate(at, jsonPath));
    else problems.push(...selectableProblem(at, jsonPath, root));
    seen.add(jsonPath);
  }
  if (seen.size > MAX_SELECTABLE) problems.push(tooMany(selectable, selectableFields.length, MAX_SELECTABLE));
  return problems;
}

function selectableProblem(at: string, path: string, root: StructuralSchema): FieldProblem[] {
  if (!/^[.[]/.test(path)) {
    const begin = /^[^.[]+/.exec(path)?.[0] ?? '';
    return [invalid(at, path, `is an invalid path: expected [ or . but got: ${begin}`)];
  }
  const found = path.startsWith('.metadata') ? undefined : resolveFieldPath(path, root);
  if (!found || 'problem' in found) return [invalid(at, path, 'is an invalid path: does not refer to a valid field')];
  if (['string', 'boolean', 'integer'].includes(found.schema.type ?? '')) return [];
  const why =
    'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.';
  return [invalid(at, path, why)];
}
