import type { StructuralSchema } from '../structural-schema/structural-schema.ts';
import { costFactor, MAX_RULE_COST, MAX_SCHEMA_COST, mostExpensive, ruleCosts } from './rule-costs.ts';

/** CostProblem is the reason why the API server rejects the rules of a resource, in its wording. */
export interface CostProblem {
  /** Where in the schema: `properties[spec].x-kubernetes-validations[0].rule`. Empty for the schema itself. */
  readonly path: string;
  readonly text: string;
}

/** CostProblems holds the problems of single rules, and those of all rules together. */
export interface CostProblems {
  readonly single: readonly CostProblem[];
  readonly together: readonly CostProblem[];
}

/** CostOptions describes how the rules were added to the schema. */
export interface CostOptions {
  /** Whether the schema was accepted before: then only the cost of all rules together is checked. */
  readonly isUnchanged: boolean;
}

/**
 * costProblems returns the rules of a resource's schema that the API server rejects because their estimated cost is too
 * high.
 */
export function costProblems(schema: StructuralSchema, { isUnchanged }: CostOptions): CostProblems {
  const { rules, total } = ruleCosts(schema, { isResource: true });
  const expensive = isUnchanged ? [] : rules.filter(({ cost }) => cost > MAX_RULE_COST);
  const single = expensive.map(({ path, part, cost }) => {
    return { path, text: overBudget(`estimated ${part} cost`, cost, MAX_RULE_COST) };
  });
  if (total <= MAX_SCHEMA_COST) return { single, together: [] };
  const contributed = 'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema';
  const what = 'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema';
  const contributors = mostExpensive(rules).map(({ path }) => ({ path, text: contributed }));
  return { single, together: [...contributors, { path: '', text: overBudget(what, total, MAX_SCHEMA_COST) }] };
}

function overBudget(what: string, cost: number, limit: number): string {
  const advice =
    'try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared';
  return `${what} exceeds budget by factor of ${costFactor(cost, limit)} (${advice})`;
}
