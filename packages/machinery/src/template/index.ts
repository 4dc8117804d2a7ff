// The entry of `@bowline/machinery/template`: apart from the main one, because it loads the CEL and RE2 engines.
export type { StepBudget } from '../cel/compile-expression.ts';
export { compileTemplate, parseTemplate, recentTemplate, type Template, type TemplateParts } from './template.ts';
