import { JsonSyntaxError, parseJson } from '@bowline/machinery';
import { type Body, jsonBody, jsonType } from '../bodies/decode-body.ts';
import { badRequest, StatusError } from '../status/api-status.ts';

export const JSON_PATCH = 'application/json-patch+json';
export const MERGE_PATCH = 'application/merge-patch+json';
export const STRATEGIC_PATCH = 'application/strategic-merge-patch+json';
export const APPLY_PATCH = 'application/apply-patch+yaml';

const MAX_OPERATIONS = 10_000;

/** decodePatch decodes a patch in JSON: a list of operations, or an object. Null is a patch that changes nothing. */
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
    const { length } = operations as unknown[];
    if (length > MAX_OPERATIONS) {
      const message = `Request entity too large: The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${length}`;
      throw new StatusError(413, 'RequestEntityTooLarge', message);
    }
    return { value: operations, duplicates };
  }
  if (value === null && type === MERGE_PATCH) throw badRequest('Invalid JSON Patch');
  expect(value ?? {}, jsonType(value ?? {}) === 'object', 'map[string]interface {}');
  return { value: value ?? {}, duplicates };
}

function parse(bytes: Uint8Array, refuse: (problem: string) => never): Body {
  try {
    return jsonBody(parseJson(new TextDecoder('utf-8').decode(bytes)));
  } catch (error) {
    if (error instanceof JsonSyntaxError) return refuse(error.message);
    throw error;
  }
}
