import { compilePattern } from '../patterns/compile-pattern.ts';
import { appendPath, type SchemaProblem, structuralProblem } from '../structural-schema/schema-problem.ts';
import {
  type NestedValidation,
  ownSchema,
  type StructuralSchema,
  type ValueValidation,
} from '../structural-schema/structural-schema.ts';

/** checkNested returns the problems of a schema's patterns and of the branches of its allOf, anyOf, oneOf and not. */
export function checkNested(schema: StructuralSchema): SchemaProblem[] {
  return checkValidation(schema, '', isIntOrString(schema.anyOf));
}

function checkValidation(validation: ValueValidation, path: string, skipAnyOf: boolean): SchemaProblem[] {
  return [
    ...checkPattern(validation.pattern, path),
    ...branchesOf(validation, path).flatMap(({ branch, at, isAnyOf, isFirst }) => {
      if (isAnyOf && skipAnyOf) return [];
      return checkBranch(branch, at, isFirst && isIntOrString(branch.anyOf));
    }),
  ];
}

interface Branch {
  readonly branch: NestedValidation;
  readonly at: string;
  readonly isAnyOf: boolean;
  /** Whether it is the first branch of an allOf, the other place where an int-or-string may list its types. */
  readonly isFirst: boolean;
}

function branchesOf(validation: ValueValidation, path: string): Branch[] {
  const lists = (['anyOf', 'allOf', 'oneOf'] as const).flatMap((key) => {
    return (validation[key] ?? []).map((branch, index) => {
      return {
        branch,
        at: appendPath(path, `${key}[${index}]`),
        isAnyOf: key === 'anyOf',
        isFirst: key === 'allOf' && index === 0,
      };
    });
  });
  const { not } = validation;
  return not === undefined
    ? lists
    : [...lists, { branch: not, at: appendPath(path, 'not'), isAnyOf: false, isFirst: false }];
}

/** The only case in which the API server allows a type in a branch. */
function isIntOrString(anyOf: readonly NestedValidation[] | undefined): boolean {
  return JSON.stringify(anyOf) === '[{"type":"integer"},{"type":"string"}]';
}

function checkPattern(pattern: string | undefined, path: string): SchemaProblem[] {
  if (pattern === undefined) return [];
  try {
    compilePattern(pattern);
    return [];
  } catch (cause) {
    return [
      { code: 'BOWLINE_SCHEMA_PATTERN', path, problem: cause instanceof Error ? cause.message : String(cause), cause },
    ];
  }
}

const FORBIDDEN_IN_BRANCHES = ['type', 'title', 'description', 'default', 'nullable', 'additionalProperties'];

function checkBranch(branch: NestedValidation, path: string, skipAnyOf = false): SchemaProblem[] {
  const problems: SchemaProblem[] = [];
  for (const key of Object.keys(branch)) {
    if (FORBIDDEN_IN_BRANCHES.includes(key) || key.startsWith('x-kubernetes-'))
      problems.push(
        structuralProblem(
          path,
          `${key} is not allowed in a branch: branches restrict values, they do not describe them`,
        ),
      );
  }
  problems.push(...checkValidation(branch, path, skipAnyOf));
  for (const [name, field] of Object.entries(branch.properties ?? {})) {
    const at = appendPath(path, `properties[${name}]`);
    if (name === 'metadata') problems.push(structuralProblem(at, 'metadata must not be restricted in a branch'));
    else problems.push(...checkBranch(field, at));
  }
  return branch.items === undefined ? problems : [...problems, ...checkBranch(branch.items, appendPath(path, 'items'))];
}

/**
 * checkCompleteness returns branches for fields or items that the schema itself does not describe. The API server only
 * checks the branches of the whole schema; at lower levels, such a branch would never match anything.
 */
export function checkCompleteness(schema: StructuralSchema): SchemaProblem[] {
  return branchesOf(schema, '').flatMap(({ branch, at }) => incomplete(branch, schema, at));
}

function incomplete(branch: NestedValidation, baseSchema: StructuralSchema, path: string): SchemaProblem[] {
  const problems = branchesOf(branch, path).flatMap((inner) => incomplete(inner.branch, baseSchema, inner.at));
  for (const [name, field] of Object.entries(branch.properties ?? {})) {
    const own = ownSchema(baseSchema.properties, name);
    const at = appendPath(path, `properties[${name}]`);
    if (own === undefined)
      problems.push(structuralProblem(at, 'is not a field of the object itself; define it there first'));
    else problems.push(...incomplete(field, own, at));
  }
  if (branch.items !== undefined) {
    const at = appendPath(path, 'items');
    if (baseSchema.items === undefined) problems.push(structuralProblem(at, 'the schema itself is not a list'));
    else problems.push(...incomplete(branch.items, baseSchema.items, at));
  }
  return problems;
}
