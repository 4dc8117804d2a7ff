// The entry of `@bowline/machinery/template`. It is separate from the main entry because it loads the CEL and RE2
// engines.
export type { StepBudget } from '../cel/environment.ts';
export { cachedTemplate, compileTemplate, parseTemplate, type Template, type TemplateParts } from './template.ts';
