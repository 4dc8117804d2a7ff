import { formatCheck } from '../formats/formats.ts';
import { isInt64, quoteText } from '../json/go-text.ts';
import { isObject, isSameJson, member } from '../json/json.ts';
import { matchesPattern } from '../patterns/compile-pattern.ts';
import type { Correlation } from '../structural-schema/correlation.ts';
import {
  additionalSchema,
  type NestedValidation,
  ownSchema,
  type StructuralSchema,
} from '../structural-schema/structural-schema.ts';
import { checkNumber, isNearlyWhole } from './check-number.ts';
import { branchViolation, invalid, missing, Outcome, tooLong, tooMany, unsupported, wrongType } from './outcome.ts';

type AnyValidation = StructuralSchema & NestedValidation;

/**
 * checkValue validates a value against a schema, without rules and list types, in the order and with the messages of
 * the API server. With a correlation, problems of unchanged values are ignored.
 */
export function checkValue(value: unknown, schema: AnyValidation, path: string, paired?: Correlation): Outcome {
  const outcome = new Outcome();
  checkType(outcome, value, schema, path);
  if (value === null) {
    checkEnum(outcome, value, schema, path);
  } else {
    checkBranches(outcome, value, schema, path);
    if (typeof value === 'string') checkText(outcome, value, schema, path);
    if (typeof value === 'number' || typeof value === 'bigint') checkNumber(outcome, value, schema, path);
    if (Array.isArray(value)) checkList(outcome, value, schema, path, paired);
    checkEnum(outcome, value, schema, path);
    if (isObject(value)) checkObject(outcome, value, schema, path, paired);
    // Every check that ran counts as a match, passed or not, and so does the end of the validation: that is how the API
    // server ranks branches.
    outcome.matches += countAppliedChecks(value, schema);
  }
  if (!outcome.isValid && paired?.isUnchanged === true) {
    const accepted = new Outcome();
    accepted.matches = outcome.matches;
    return accepted;
  }
  return outcome;
}

function countAppliedChecks(value: unknown, schema: AnyValidation): number {
  const typed = typesOf(schema).length > 0 || knownFormat(schema) !== undefined ? 1 : 0;
  const kind = typeof value === 'boolean' ? 0 : 1;
  const formatted = typeof value === 'string' && knownFormat(schema) !== undefined ? 1 : 0;
  return typed + kind + formatted + 3;
}

function typesOf(schema: AnyValidation): readonly string[] {
  if (schema['x-kubernetes-int-or-string'] === true) return ['integer', 'string'];
  return schema.type === undefined ? [] : [schema.type];
}

function knownFormat(schema: AnyValidation): ((text: string) => boolean) | undefined {
  return schema.format === undefined ? undefined : formatCheck(schema.format);
}

function jsonType(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number' || typeof value === 'bigint') return isInt64(value) ? 'integer' : 'number';
  return typeof value;
}

function checkType(outcome: Outcome, value: unknown, schema: AnyValidation, path: string): void {
  const types = typesOf(schema);
  const format = knownFormat(schema);
  if (value === null) {
    if (types.length > 0 && schema.nullable !== true) outcome.add(wrongType(path, types.join(','), 'null'));
    else outcome.matches++;
    return;
  }
  if (types.length === 0 && format === undefined) return;
  const found = jsonType(value);
  const isNumeric = types.includes('number') || types.includes('integer');
  const fits =
    types.includes(found) ||
    (found === 'integer' && types.includes('number')) ||
    (found === 'number' && types.includes('integer') && isNearlyWhole(value as number));
  const isPlain = typeof value === 'string' || Array.isArray(value);
  if (format !== undefined && !isPlain && !fits) {
    outcome.add(wrongType(path, schema.format ?? '', formatOf(found)));
    return;
  }
  // A format replaces the type check: its message is more specific.
  const formatDecides = format !== undefined && isPlain && !isNumeric;
  if (!formatDecides && !fits) outcome.add(wrongType(path, types.join(','), found));
  else outcome.matches++;
}

function formatOf(type: string): string {
  if (type === 'integer') return 'int64';
  return type === 'number' ? 'float64' : '';
}

function checkText(outcome: Outcome, value: string, schema: AnyValidation, path: string): void {
  const { minLength, maxLength, pattern } = schema;
  if (maxLength !== undefined && !hasAtMost(value, maxLength)) outcome.add(tooLong(path, maxLength));
  else if (minLength !== undefined && minLength > 0 && hasAtMost(value, minLength - 1))
    outcome.add(invalid(path, value, `should be at least ${minLength} chars long`));
  else if (pattern !== undefined && pattern !== '' && !matchesPattern(pattern, value))
    outcome.add(invalid(path, value, `should match '${pattern}'`));
  const format = knownFormat(schema);
  if (format !== undefined && !format(value)) outcome.add(wrongType(path, schema.format ?? '', value));
}

/**
 * Counts characters, not UTF-16 units; counting is needed only if the text has more than `limit` and at most twice as
 * many units.
 */
function hasAtMost(text: string, limit: number): boolean {
  if (text.length <= limit) return true;
  if (text.length > limit * 2) return false;
  let characters = 0;
  for (const _ of text) characters++;
  return characters <= limit;
}

function checkEnum(outcome: Outcome, value: unknown, schema: AnyValidation, path: string): void {
  const allowed = schema.enum;
  if (allowed === undefined || allowed.length === 0) return;
  // Null is never a member, whatever the list contains: the API server compares types first, and null has none.
  if (value !== null && allowed.some((item) => isMember(value, item))) return;
  outcome.add(unsupported(path, value, allowed));
}

/** The API server converts a value to the type of the member first: 1.5 becomes the integer 1, and 97 the text "a". */
function isMember(value: unknown, item: unknown): boolean {
  if (typeof value === 'number' && typeof item === 'number')
    return value === item || (isInt64(item) && Math.trunc(value) === item);
  if (typeof value === 'number' && typeof item === 'string' && isInt64(value))
    return item === (value >= 0 && value <= 0x10ffff ? String.fromCodePoint(value) : '\ufffd');
  return isSameJson(item, value);
}

function checkList(
  outcome: Outcome,
  items: readonly unknown[],
  schema: AnyValidation,
  path: string,
  paired: Correlation | undefined,
): void {
  if (schema.items !== undefined) {
    for (const [index, item] of items.entries())
      outcome.merge(checkValue(item, schema.items, `${path}[${index}]`, paired?.index(index)));
  }
  if (schema.minItems !== undefined && items.length < schema.minItems)
    outcome.add(invalid(path, items.length, `should have at least ${schema.minItems} items`));
  if (schema.maxItems !== undefined && items.length > schema.maxItems)
    outcome.add(tooMany(path, items.length, schema.maxItems, 'items'));
  if (schema.uniqueItems === true && new Set(items.map((item) => JSON.stringify(item))).size < items.length)
    outcome.add(invalid(path, '', "shouldn't contain duplicates"));
  outcome.matches++;
}

function checkObject(
  outcome: Outcome,
  object: { readonly [key: string]: unknown },
  schema: AnyValidation,
  path: string,
  paired: Correlation | undefined,
): void {
  const keys = Object.keys(object).filter((key) => object[key] !== undefined);
  const { minProperties, maxProperties, properties, additionalProperties } = schema;
  if (minProperties !== undefined && keys.length < minProperties)
    outcome.add(invalid(path, keys.length, `should have at least ${minProperties} properties`));
  if (maxProperties !== undefined && keys.length > maxProperties)
    outcome.add(tooMany(path, keys.length, maxProperties, 'properties'));
  const additional = additionalSchema(schema);
  for (const key of keys) {
    const own = ownSchema<AnyValidation>(properties, key);
    // apiVersion and kind cannot change, and are compared after conversion: their problems always count.
    const pair = path === '' && (key === 'apiVersion' || key === 'kind') ? undefined : paired?.key(key);
    if (own !== undefined) outcome.merge(checkValue(object[key], own, path === '' ? key : `${path}.${key}`, pair));
    else if (additionalProperties === false) outcome.add({ ...invalid(path, key, ''), ...forbidden(path, key) });
    else if (additional !== undefined) outcome.merge(checkValue(object[key], additional, `${path}.${key}`, pair));
  }
  for (const key of schema.required ?? []) {
    if (member(object, key) === undefined) outcome.add(missing(`${path}.${key}`));
  }
}

function forbidden(path: string, key: string): { message: string; identity: string } {
  const text = `${path}.${key} in body is a forbidden property`;
  return { message: `Invalid value: ${quoteText(key)}: ${text}`, identity: text };
}

function checkBranches(outcome: Outcome, value: unknown, schema: AnyValidation, path: string): void {
  if (schema.anyOf !== undefined && schema.anyOf.length > 0) checkAnyOf(outcome, value, schema.anyOf, path);
  if (schema.oneOf !== undefined && schema.oneOf.length > 0) checkOneOf(outcome, value, schema.oneOf, path);
  if (schema.allOf !== undefined && schema.allOf.length > 0) {
    const results = schema.allOf.map((branch) => checkValue(value, branch, path));
    for (const result of results) outcome.merge(result);
    const valid = results.filter((result) => result.isValid).length;
    if (valid < results.length)
      outcome.add(
        branchViolation(
          `${quoteText(path)} must validate all the schemas (allOf)${valid === 0 ? '. None validated' : ''}`,
        ),
      );
  }
  if (schema.not !== undefined && checkValue(value, schema.not, path).isValid)
    outcome.add(branchViolation(`${quoteText(path)} must not validate the schema (not)`));
  outcome.matches++;
}

function checkAnyOf(outcome: Outcome, value: unknown, branches: readonly NestedValidation[], path: string): void {
  let best: Outcome | undefined;
  for (const branch of branches) {
    const result = checkValue(value, branch, path);
    if (result.isValid) {
      outcome.merge(result);
      return;
    }
    if (best === undefined || result.matches > best.matches) best = result;
  }
  outcome.add(branchViolation(`${quoteText(path)} must validate at least one schema (anyOf)`));
  if (best !== undefined) outcome.merge(best);
}

function checkOneOf(outcome: Outcome, value: unknown, branches: readonly NestedValidation[], path: string): void {
  const results = branches.map((branch) => checkValue(value, branch, path));
  const valid = results.filter((result) => result.isValid);
  const [first] = valid;
  if (first !== undefined && valid.length === 1) {
    outcome.merge(first);
    return;
  }
  const found = valid.length === 0 ? 'Found none valid' : `Found ${valid.length} valid alternatives`;
  outcome.add(branchViolation(`${quoteText(path)} must validate one and only one schema (oneOf). ${found}`));
  if (valid.length > 0) return;
  let best = results[0];
  for (const result of results) if (best !== undefined && result.matches > best.matches) best = result;
  if (best !== undefined) outcome.merge(best);
}
