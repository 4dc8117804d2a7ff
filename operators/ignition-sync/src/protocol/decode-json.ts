import { BowlineError, JsonSyntaxError, parseJson } from '@bowline/machinery';
import { applyDefaults, describeProblems, type Typed, validate } from '@bowline/machinery/schema';
import type { Read } from '@bowline/runtime/resource';

/** Settings are at most eight levels deep. */
const MAX_DEPTH = 32;

/**
 * ProtocolError reports a ConfigMap that cannot be read. Anyone who may write ConfigMaps may have written it, so the
 * message never contains a value.
 */
export class ProtocolError extends BowlineError {
  constructor(field: string, problem: string) {
    super('BOWLINE_IGNITION_PROTOCOL', `${field}: ${problem}`);
  }
}

/** decodeJson parses a value of a ConfigMap and validates it. It throws ProtocolError, which names the field. */
export function decodeJson<S extends Typed & { readonly json: Parameters<typeof validate>[1] }>(
  field: string,
  text: string,
  schema: S,
): Read<S> {
  let value: unknown;
  try {
    ({ value } = parseJson(text, { maxDepth: MAX_DEPTH }));
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw new ProtocolError(field, `it is not JSON: ${error.message}`);
    throw error;
  }
  const complete = applyDefaults(value, schema.json);
  const problems = validate(complete, schema.json, { path: field });
  if (problems.length > 0) throw new ProtocolError(field, describeProblems(problems.slice(0, 1)));
  // It was validated against the schema that the type is derived from.
  return complete as Read<S>;
}
