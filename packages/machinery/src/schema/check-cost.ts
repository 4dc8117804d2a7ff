import {
  costFactor,
  MAX_RULE_COST,
  MAX_SCHEMA_COST,
  mostExpensive,
  type RuleCost,
  ruleCosts,
} from '../cel/rule-costs.ts';
import type { SchemaProblem } from '../structural-schema/schema-problem.ts';
import type { StructuralSchema } from '../structural-schema/structural-schema.ts';

/** checkCost returns the rules of a schema that the API server rejects because evaluating them could take too long. */
export function checkCost(schema: StructuralSchema, options: { readonly isResource: boolean }): SchemaProblem[] {
  const { rules, total } = ruleCosts(schema, options);
  const problems = rules.filter(({ cost }) => cost > MAX_RULE_COST).map(tooExpensive);
  if (total > MAX_SCHEMA_COST) problems.push(expensiveTogether(total, mostExpensive(rules)));
  return problems;
}

function tooExpensive(found: RuleCost): SchemaProblem {
  const { rule, part, path, cost } = found;
  const source = part === 'rule' ? rule.rule : rule.messageExpression;
  const problem = `the ${part} ${JSON.stringify(source)}: estimated ${part} cost exceeds budget by factor of ${costFactor(cost, MAX_RULE_COST)}, so the API server rejects it; ${advice([found])}`;
  return { code: 'BOWLINE_SCHEMA_RULE', path, problem };
}

function expensiveTogether(total: number, expensive: readonly RuleCost[]): SchemaProblem {
  const paths = expensive.map(({ path }) => path).join(', ');
  const problem = `the rules of the schema: estimated rule cost total exceeds budget by factor of ${costFactor(total, MAX_SCHEMA_COST)}, so the API server rejects them; the most expensive are ${paths}; ${advice(expensive)}`;
  return { code: 'BOWLINE_SCHEMA_RULE', path: '', problem };
}

/** Returns the remedy: add the missing bounds, which cause almost all of the cost of such rules. */
function advice(rules: readonly RuleCost[]): string {
  const missing = new Set(
    rules.flatMap(({ unbounded }) => [...unbounded].map(([value, bound]) => `${bound} to ${value}`)),
  );
  if (missing.size === 0) return 'simplify it, or lower the maxItems, maxProperties and maxLength of what it reads';
  return `add ${[...missing].join(', ')}, or simplify it`;
}
