import { type FieldProblem, isSameJson } from '@bowline/machinery';
import { prune, type StructuralSchema, validate } from '@bowline/machinery/schema';
import { forbidden, invalid } from '../registry/kinds/shared/problems.ts';
import { below, type SchemaProps } from './schema-props.ts';

/**
 * defaultProblems returns the problems of the defaults in a structural schema: they must be valid values themselves.
 */
export function defaultProblems(schema: SchemaProps, path: string): FieldProblem[] {
  return below(schema, path).flatMap((each) =>
    each.name === 'metadata' ? inMetadata(each.schema, each.path) : inLevel(each.schema, each.path),
  );
}

/** Defaults are not applied to metadata. */
function inMetadata(schema: SchemaProps, path: string): FieldProblem[] {
  const own =
    schema.default === undefined ? [] : [forbidden(`${path}.default`, 'must not be set in top-level metadata')];
  return [...own, ...below(schema, path).flatMap((each) => inMetadata(each.schema, each.path))];
}

function inLevel(schema: SchemaProps, path: string): FieldProblem[] {
  return [
    ...valueProblems(schema, `${path}.default`),
    ...below(schema, path).flatMap((each) => inLevel(each.schema, each.path)),
  ];
}

function valueProblems(schema: SchemaProps, path: string): FieldProblem[] {
  const value = schema.default;
  if (value === undefined || value === null) return [];
  const structural = schema as StructuralSchema;
  const isResource = schema['x-kubernetes-embedded-resource'] === true;
  if (!isSameJson(prune(value, structural, { isResource }), value))
    return [invalid(path, value, 'must not have unknown fields')];
  return validate(value, structural, { isResource }).map((problem) => {
    const field = problem.field === '' || problem.field === '<nil>' ? path : `${path}.${problem.field}`;
    return { ...problem, field };
  });
}
