// The entry of `@bowline/machinery/template`: apart from the main one, because it loads the CEL and RE2 engines.
export type { StepBudget } from '../cel/compile-expression.ts';
export { recentTemplate } from './recent-templates.ts';
export { compileTemplate, parseTemplate, type Template, type TemplateParts } from './template.ts';
