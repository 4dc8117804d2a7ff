// The entry of `@bowline/machinery/cel`. It is separate from the main entry because it loads the CEL and RE2 engines.
export { admissionVariables, policyVariables } from './admission-variables.ts';
export type {
  AccessAttributes,
  AccessDecision,
  Account,
  ExpressionAuthorizer,
  PathAccessAttributes,
  ResourceAccessAttributes,
} from './authorizer-values.ts';
export { compileExpression, type Expression } from './compile-expression.ts';
export {
  type Activation,
  CelEnvironment,
  type CompiledExpression,
  type ExpressionOptions,
  type StepBudget,
  type VariableDeclaration,
} from './environment.ts';
export { escapeFieldName } from './field-names.ts';
export { CelSyntaxError } from './syntax-error.ts';
