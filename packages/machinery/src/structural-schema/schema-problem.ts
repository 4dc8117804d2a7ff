import { BowlineError } from '../errors/bowline-error.ts';

/** SchemaProblem is one problem of a schema. */
export interface SchemaProblem {
  readonly code: 'BOWLINE_SCHEMA_INVALID' | 'BOWLINE_SCHEMA_PATTERN' | 'BOWLINE_SCHEMA_DEFAULT' | 'BOWLINE_SCHEMA_RULE';
  /** Where in the schema: `properties[spec].items`. Empty for the schema itself. */
  readonly path: string;
  /** The problem, and how to fix it. */
  readonly problem: string;
  readonly cause?: unknown;
  /** The fault of a validation rule. Absent for all other problems. */
  readonly fault?: RuleFault | undefined;
}

/**
 * RuleFault describes which part of a validation rule is wrong, and how: it does not compile, or has the wrong type.
 */
export interface RuleFault {
  readonly part: 'rule' | 'messageExpression' | 'optionalOldSelf';
  readonly isType: boolean;
  /** The problem, without the part and the position. */
  readonly detail: string;
  /** The position in the expression, from 1. */
  readonly at?: { readonly line: number; readonly column: number } | undefined;
}

/** structuralProblem returns a problem for a violation of the rules for structural schemas. */
export function structuralProblem(path: string, problem: string): SchemaProblem {
  return { code: 'BOWLINE_SCHEMA_INVALID', path, problem };
}

/** appendPath appends a step to a path in a schema: `under('properties[a]', 'items')`. */
export function appendPath(path: string, step: string): string {
  return path === '' ? step : `${path}.${step}`;
}

/** refuse throws an error for the first problem, with the number of the others. */
export function refuse(what: string, problems: readonly SchemaProblem[]): void {
  const [first] = problems;
  if (first === undefined) return;
  const more = problems.length === 1 ? '' : ` (and ${problems.length - 1} more)`;
  const where = first.path === '' ? '' : `${first.path}: `;
  throw new BowlineError(first.code, `cannot build ${what}: ${where}${first.problem}${more}`, { cause: first.cause });
}
