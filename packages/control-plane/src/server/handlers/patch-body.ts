import { JsonSyntaxError, parseJson } from '../json/parse-json.ts';
import { badRequest } from '../status/api-status.ts';
import type { Body } from './decode-body.ts';

export const JSON_PATCH = 'application/json-patch+json';
export const MERGE_PATCH = 'application/merge-patch+json';
export const STRATEGIC_PATCH = 'application/strategic-merge-patch+json';
export const APPLY_PATCH = 'application/apply-patch+yaml';

/** decodePatch reads a patch in JSON: a list of operations, or an object. Null is a patch that changes nothing. */
export function decodePatch(bytes: Uint8Array, type: string): Body {
  const refuse = (problem: string): never => {
    throw badRequest(type === STRATEGIC_PATCH ? problem : `error decoding patch: ${problem}`);
  };
  const { value, duplicates } = parse(bytes, refuse);
  const expect = (found: unknown, isExpected: boolean, wanted: string): void => {
    if (!isExpected) refuse(`json: cannot unmarshal ${jsonType(found)} into Go value of type ${wanted}`);
  };
  if (type === JSON_PATCH) {
    const operations: unknown = value ?? [];
    expect(operations, Array.isArray(operations), '[]handlers.jsonPatchOp');
    for (const each of operations as unknown[]) expect(each, jsonType(each) === 'object', 'handlers.jsonPatchOp');
    return { value: operations, duplicates };
  }
  if (value === null && type === MERGE_PATCH) throw badRequest('Invalid JSON Patch');
  expect(value ?? {}, jsonType(value ?? {}) === 'object', 'map[string]interface {}');
  return { value: value ?? {}, duplicates };
}

function parse(bytes: Uint8Array, refuse: (problem: string) => never): Body {
  try {
    return parseJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    return refuse(error instanceof JsonSyntaxError ? error.message : 'the body of the request is not UTF-8');
  }
}

/** jsonType is what the API server calls a value of JSON. */
function jsonType(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'bigint') return 'number';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}
