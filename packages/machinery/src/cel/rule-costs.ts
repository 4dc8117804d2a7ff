import { appendPath } from '../structural-schema/schema-problem.ts';
import {
  additionalSchema,
  type StructuralSchema,
  type ValidationRule,
} from '../structural-schema/structural-schema.ts';
import { compileRules, hasRules } from './compile-rules.ts';
import type { CostEstimate } from './cost/estimate-cost.ts';
import { add, times } from './cost/saturating.ts';
import { type Bound, MAX_REQUEST_BYTES, sizedType } from './cost/sized-type.ts';

/** MAX_RULE_COST is the estimated cost above which the API server rejects a rule or a messageExpression. */
export const MAX_RULE_COST = 10_000_000;

/** MAX_SCHEMA_COST is the estimated cost above which the API server rejects all rules of a schema together. */
export const MAX_SCHEMA_COST = 100_000_000;

/** RuleCost is the estimated cost of a rule or its messageExpression for one object. */
export interface RuleCost {
  readonly rule: ValidationRule;
  readonly part: 'rule' | 'messageExpression';
  /** Where in the schema: `properties[spec].x-kubernetes-validations[0].rule`. */
  readonly path: string;
  readonly cost: number;
  /** The missing keywords, by the values that the expression reads (`self.items`) and the schemas around it. */
  readonly unbounded: ReadonlyMap<string, Bound>;
}

/** RuleCosts holds the estimated costs of all rules of a schema for one object. */
export interface RuleCosts {
  readonly rules: readonly RuleCost[];
  readonly total: number;
}

/**
 * ruleCosts estimates the costs of all rules of a schema as the API server does. Rules that do not compile cost
 * nothing.
 */
export function ruleCosts(schema: StructuralSchema, options: { readonly isResource: boolean }): RuleCosts {
  const rules: RuleCost[] = [];
  collect(rules, schema, options.isResource, { path: '', count: 1, unbounded: [] });
  return { rules, total: rules.reduce((sum, { cost }) => add(sum, cost), 0) };
}

/** Surroundings describes the parents of a level of a schema. */
interface Surroundings {
  readonly path: string;
  /** The maximum number of values of this level in an object; undefined if only the size of a request bounds it. */
  readonly count: number | undefined;
  /** The parent lists and maps without a bound. */
  readonly unbounded: readonly (readonly [path: string, missing: Bound])[];
}

function collect(rules: RuleCost[], schema: StructuralSchema, isResource: boolean, around: Surroundings): void {
  if (!hasRules(schema)) return;
  const { path } = around;
  const inside = {
    count: countBelow(schema, around.count),
    unbounded: [...around.unbounded, ...missingBound(schema, path)],
  };
  const child = (inner: StructuralSchema, step: string): void => {
    const isEmbedded = inner['x-kubernetes-embedded-resource'] === true;
    collect(rules, inner, isEmbedded, { ...inside, path: appendPath(path, step) });
  };
  const additional = additionalSchema(schema);
  if (additional !== undefined) child(additional, 'additionalProperties');
  for (const [name, field] of Object.entries(schema.properties ?? {})) child(field, `properties[${name}]`);
  if (schema.items !== undefined) child(schema.items, 'items');
  for (const { rule, index, cost, messageCost } of compileRules(schema, { isResource }).rules) {
    const at = appendPath(path, `x-kubernetes-validations[${index}]`);
    const estimate = cost();
    const unbounded = new Map([...around.unbounded, ...estimate.unbounded]);
    const count = around.count ?? cardinality(schema, isResource);
    rules.push({ rule, part: 'rule', path: `${at}.rule`, cost: times(estimate.cost, count), unbounded });
    // A message is created once, for the rule that fails.
    if (messageCost !== undefined) rules.push(messageOf(rule, at, messageCost()));
  }
}

function messageOf(rule: ValidationRule, at: string, { cost, unbounded }: CostEstimate): RuleCost {
  return { rule, part: 'messageExpression', path: `${at}.messageExpression`, cost, unbounded };
}

/** Returns the maximum number of values in a request, if each is as short as possible and followed by a comma. */
function cardinality(schema: StructuralSchema, isResource: boolean): number {
  return Math.floor(MAX_REQUEST_BYTES / ((sizedType(schema, { isResource })?.minBytes ?? 0) + 1));
}

function countBelow(schema: StructuralSchema, count: number | undefined): number | undefined {
  if (count === undefined || missingBound(schema, '').length > 0) return undefined;
  if (schema.type === 'array') return times(count, Math.max(0, schema.maxItems ?? 0));
  if (schema.type === 'object' && schema.additionalProperties !== undefined)
    return times(count, Math.max(0, schema.maxProperties ?? 0));
  return count;
}

function missingBound(schema: StructuralSchema, path: string): readonly (readonly [string, Bound])[] {
  if (schema.type === 'array' && schema.maxItems === undefined) return [[path, 'maxItems']];
  const isMap = schema.type === 'object' && schema.additionalProperties !== undefined;
  return isMap && schema.maxProperties === undefined ? [[path, 'maxProperties']] : [];
}

const SHARE_OF_EXPENSIVE = 0.01;
const MAX_EXPENSIVE = 4;

/**
 * mostExpensive returns the rules that the API server names if all rules together cost too much: at most four, each at
 * least 1% of the limit.
 */
export function mostExpensive(rules: readonly RuleCost[]): readonly RuleCost[] {
  return rules
    .filter(({ cost }) => cost >= MAX_SCHEMA_COST * SHARE_OF_EXPENSIVE)
    .toSorted((a, b) => b.cost - a.cost)
    .slice(0, MAX_EXPENSIVE);
}

/** costFactor formats the ratio of a cost to its limit as the API server does. */
export function costFactor(cost: number, limit: number): string {
  const factor = cost / limit;
  if (factor > 100) return 'more than 100x';
  return `${rounded(cost, limit, factor < 1.5 ? 6 : 1)}x`;
}

/** Rounds half to even, as Go does. */
function rounded(cost: number, limit: number, digits: number): string {
  const scaled = BigInt(cost) * 10n ** BigInt(digits);
  const [quotient, rest] = [scaled / BigInt(limit), scaled % BigInt(limit)];
  const twice = 2n * rest;
  const isUp = twice > BigInt(limit) || (twice === BigInt(limit) && quotient % 2n === 1n);
  const text = String(isUp ? quotient + 1n : quotient).padStart(digits + 1, '0');
  return `${text.slice(0, -digits)}.${text.slice(-digits)}`;
}
