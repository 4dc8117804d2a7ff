// The entry of `@bowline/machinery/cel`. It is separate from the main entry because it loads the CEL and RE2 engines.
export { admissionVariables } from './admission-variables.ts';
export type {
  AccessAttributes,
  AccessDecision,
  Account,
  ExpressionAuthorizer,
  PathAccessAttributes,
  ResourceAccessAttributes,
} from './authorizer-values.ts';
export {
  compileExpression,
  type Expression,
  type ExpressionOptions,
  type StepBudget,
  type VariableDeclaration,
} from './compile-expression.ts';
export { escapeFieldName } from './field-names.ts';
