import { BowlineError } from '../errors/bowline-error.ts';

/** SchemaProblem is one thing wrong with a schema. */
export interface SchemaProblem {
  readonly code: 'BOWLINE_SCHEMA_INVALID' | 'BOWLINE_SCHEMA_PATTERN' | 'BOWLINE_SCHEMA_DEFAULT' | 'BOWLINE_SCHEMA_RULE';
  /** Where in the schema: `properties[spec].items`. Empty for the schema itself. */
  readonly path: string;
  /** What is wrong, and what to do. */
  readonly problem: string;
  readonly cause?: unknown;
  /** What of a validation rule is wrong. Absent for everything else. */
  readonly fault?: RuleFault | undefined;
}

/** RuleFault says which part of a validation rule is wrong, and how: it cannot be compiled, or is of another type. */
export interface RuleFault {
  readonly part: 'rule' | 'messageExpression' | 'optionalOldSelf';
  readonly isType: boolean;
  /** What is wrong, without what it is about and where. */
  readonly detail: string;
  /** Where in the expression; from 1. */
  readonly at?: { readonly line: number; readonly column: number } | undefined;
}

/** structural is a problem that breaks the rules of structural schemas. */
export function structural(path: string, problem: string): SchemaProblem {
  return { code: 'BOWLINE_SCHEMA_INVALID', path, problem };
}

/** under appends to a path in a schema: `under('properties[a]', 'items')`. */
export function under(path: string, step: string): string {
  return path === '' ? step : `${path}.${step}`;
}

/** refuse throws the first of some problems and counts the others. */
export function refuse(what: string, problems: readonly SchemaProblem[]): void {
  const [first] = problems;
  if (first === undefined) return;
  const more = problems.length === 1 ? '' : ` (and ${problems.length - 1} more)`;
  const where = first.path === '' ? '' : `${first.path}: `;
  throw new BowlineError(first.code, `cannot build ${what}: ${where}${first.problem}${more}`, { cause: first.cause });
}
