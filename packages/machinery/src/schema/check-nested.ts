import { compilePattern } from './patterns.ts';
import { type SchemaProblem, structural, under } from './schema-problem.ts';
import { type NestedValidation, ownSchema, type StructuralSchema, type ValueValidation } from './structural-schema.ts';

/** checkNested finds what is wrong with the patterns of a schema and with the branches of its allOf, anyOf, oneOf and not. */
export function checkNested(schema: StructuralSchema): SchemaProblem[] {
  return checkValidation(schema, schema, '', isIntOrString(schema.anyOf));
}

function checkValidation(
  validation: ValueValidation,
  spine: StructuralSchema,
  path: string,
  skipAnyOf: boolean,
): SchemaProblem[] {
  const allOf = validation.allOf ?? [];
  return [
    ...checkPattern(validation.pattern, path),
    ...(skipAnyOf ? [] : (validation.anyOf ?? [])).flatMap((branch, i) =>
      checkBranch(branch, spine, under(path, `anyOf[${i}]`)),
    ),
    ...allOf.flatMap((branch, i) => {
      return checkBranch(branch, spine, under(path, `allOf[${i}]`), i === 0 && isIntOrString(branch.anyOf));
    }),
    ...(validation.oneOf ?? []).flatMap((branch, i) => checkBranch(branch, spine, under(path, `oneOf[${i}]`))),
    ...(validation.not === undefined ? [] : checkBranch(validation.not, spine, under(path, 'not'))),
  ];
}

/** The one place where the API server lets a branch have a type. */
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

const ONLY_OUTSIDE = ['type', 'title', 'description', 'default', 'nullable', 'additionalProperties'];

function checkBranch(
  branch: NestedValidation,
  spine: StructuralSchema,
  path: string,
  skipAnyOf = false,
): SchemaProblem[] {
  const problems: SchemaProblem[] = [];
  for (const key of Object.keys(branch)) {
    if (ONLY_OUTSIDE.includes(key) || key.startsWith('x-kubernetes-'))
      problems.push(
        structural(path, `${key} is not allowed in a branch: branches restrict values, they do not describe them`),
      );
  }
  problems.push(...checkValidation(branch, spine, path, skipAnyOf));
  for (const [name, field] of Object.entries(branch.properties ?? {})) {
    const own = ownSchema(spine.properties, name);
    const at = under(path, `properties[${name}]`);
    if (name === 'metadata') problems.push(structural(at, 'metadata must not be restricted in a branch'));
    else if (own === undefined)
      problems.push(structural(at, 'is not a field of the object itself; describe it there first'));
    else problems.push(...checkBranch(field, own, at));
  }
  if (branch.items !== undefined) {
    const at = under(path, 'items');
    if (spine.items === undefined) problems.push(structural(at, 'the schema itself is no list'));
    else problems.push(...checkBranch(branch.items, spine.items, at));
  }
  return problems;
}
