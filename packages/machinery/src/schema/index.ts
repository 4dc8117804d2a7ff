// The entry of `@bowline/machinery/schema`. It is separate from the main entry because it loads the CEL and RE2
// engines.

export { type CompiledRule, type CompiledRules, compileRules } from '../cel/compile-rules.ts';
export { type CostOptions, type CostProblem, type CostProblems, costProblems } from '../cel/cost-problems.ts';
export { resolveFieldPath } from '../cel/field-path.ts';
export { FORMAT_NAMES } from '../formats/formats.ts';
export { compilePattern } from '../patterns/compile-pattern.ts';
export { compileReplacement, type ReplaceLimits, type Replacement } from '../patterns/replacement.ts';
export type { RuleFault, SchemaProblem } from '../structural-schema/schema-problem.ts';
export type {
  NestedValidation,
  RuleReason,
  SchemaType,
  StructuralSchema,
  ValidationRule,
  ValueValidation,
} from '../structural-schema/structural-schema.ts';
export type { FieldProblem, FieldProblemReason } from '../validation/field-problem.ts';
export { describeProblems } from '../validation/field-problem.ts';
export { applyDefaults } from './apply-defaults.ts';
export {
  ArraySchema,
  type EmbeddedResource,
  EmbeddedSchema,
  MapSchema,
  ObjectSchema,
  UnknownSchema,
} from './builder/composite-schemas.ts';
export type { DefaultedField, NullableField, OptionalField, Read, Shape, Typed, Written } from './builder/infer.ts';
export type { AnySchema, FieldSchemas } from './builder/primitives.ts';
export { s } from './builder/s.ts';
export {
  BooleanSchema,
  DurationSchema,
  EnumSchema,
  IntOrStringSchema,
  NumberSchema,
  StringSchema,
} from './builder/scalar-schemas.ts';
export { type RuleOptions, Schema } from './builder/schema.ts';
export { type CheckSchemaOptions, checkSchema } from './check-schema.ts';
export { describeUnknownFields, type PruneOptions, prune, unknownFields } from './prune.ts';
export { readObject, validateObject } from './read-object.ts';
export { renderCustomResourceDefinition } from './render-crd.ts';
export { renderKindPage } from './render-kind-page.ts';
export {
  type Column,
  pluralOf,
  type ResourceDefinition,
  type ResourceNames,
  resourceSchema,
  type Scale,
  type VersionDefinition,
  versionsOf,
} from './resource-definition.ts';
export { type ValidateOptions, validate } from './validate.ts';
