import {
  applyDefaults,
  describeProblems,
  type StructuralSchema,
  unknownFields,
  validate,
} from '@bowline/machinery/schema';

/** configOf returns a section of the configuration as the operator reads it: validated, and with defaults. */
export function configOf<Config>(
  schema: { readonly '~read': Config; readonly json: StructuralSchema },
  section: unknown = {},
): Config {
  const value = applyDefaults(section, schema.json);
  const problems = validate(value, schema.json);
  if (problems.length > 0) throw new Error(describeProblems(problems));
  const [unknown] = unknownFields(value, schema.json);
  if (unknown !== undefined) throw new Error(`unknown setting ${unknown}`);
  return value as Config;
}
