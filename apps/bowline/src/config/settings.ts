import {
  applyDefaults,
  type FieldProblem,
  type StructuralSchema,
  unknownFields,
  validate,
} from '@bowline/machinery/schema';
import { BowlineError, type Operator } from '@bowline/runtime';
import { withConfig } from '@bowline/runtime/install';
import { didYouMean } from '../terminal/did-you-mean.ts';
import type { ConfigFile } from './config-file.ts';
import { type FlagValue, withFlags } from './flags.ts';
import { type ManagerConfig, managerConfig } from './manager-config.ts';

/** Settings holds the configuration of a manager: the file and the flags together, validated. */
export interface Settings {
  readonly operators: readonly Operator[];
  /** With defaults filled in. */
  readonly manager: ManagerConfig;
  /** The sections of the selected operators, without defaults. */
  readonly sections: Readonly<Record<string, unknown>>;
  /** All settings without defaults: what `manifests` writes into the cluster. */
  readonly given: Readonly<Record<string, unknown>>;
}

/** SettingsInput holds the sources of settings. Flags take precedence. */
export interface SettingsInput {
  readonly file?: ConfigFile | undefined;
  readonly flags?: readonly FlagValue[] | undefined;
  /** The selected operators. */
  readonly operators: readonly Operator[];
  /** The names of all operators: a file may hold sections of those that are not selected. */
  readonly known: readonly string[];
}

/**
 * resolveSettings merges and validates settings. It throws BOWLINE_CONFIG_INVALID with every problem: field, line and
 * message.
 */
export function resolveSettings({ file, flags = [], operators, known }: SettingsInput): Settings {
  const merged = withFlags(file?.value, flags);
  if (file) {
    const remaining = new Set(problemsOf(merged, operators, known).map(formatProblem));
    // A value that is missing in the file may come from a flag.
    const problems = problemsOf(file.value, operators, known).filter((problem) =>
      remaining.has(formatProblem(problem)),
    );
    refuseProblems(file.path, problems, file);
  }
  const given: Record<string, unknown> = { ...merged, operators: operators.map(({ name }) => name) };
  // Each flag is valid by itself; together with the file, or with each other, flags may not be.
  refuseProblems('the command line', problemsOf(given, operators, known));
  const own = Object.fromEntries(Object.entries(given).filter(([field]) => !known.includes(field)));
  const sections = operators
    .filter(({ name }) => given[name] !== undefined)
    .map(({ name }) => [name, given[name]] as const);
  return {
    operators,
    // Validated above: it matches the schema.
    manager: applyDefaults(own, managerConfig.json) as ManagerConfig,
    sections: Object.fromEntries(sections),
    given,
  };
}

/**
 * withConfigured returns settings whose operators are configured with them: the permissions of an operator may depend
 * on its settings.
 */
export async function withConfigured(settings: Settings): Promise<Settings> {
  const { operators, sections } = settings;
  const configured = await Promise.all(operators.map((operator) => withConfig(operator, sections[operator.name])));
  return { ...settings, operators: configured };
}

/** checkFile throws BOWLINE_CONFIG_INVALID for a file that is invalid by itself. */
export function checkFile(file: ConfigFile, operators: readonly Operator[], known: readonly string[]): void {
  refuseProblems(file.path, problemsOf(file.value, operators, known), file);
}

function problemsOf(
  config: Readonly<Record<string, unknown>>,
  operators: readonly Operator[],
  known: readonly string[],
): readonly FieldProblem[] {
  const own = Object.fromEntries(Object.entries(config).filter(([field]) => !known.includes(field)));
  return [
    ...problemsWith(own, managerConfig.json, '', known),
    ...installProblems(config.install, known),
    ...operators.flatMap((operator) => sectionProblems(operator, config[operator.name])),
  ];
}

/** The section of an operator that does not exist would be set and never used. */
function installProblems(section: unknown, known: readonly string[]): readonly FieldProblem[] {
  const names = Object.keys((section as { readonly operators?: object } | undefined)?.operators ?? {});
  return names
    .filter((name) => !known.includes(name))
    .map((name) => problem(`install.operators.${name}`, `unknown operator${didYouMean(name, known)}`));
}

function sectionProblems({ name, config }: Operator, section: unknown): readonly FieldProblem[] {
  if (config && 'json' in config) return problemsWith(section ?? {}, config.json, name, []);
  if (config === undefined && section !== undefined) {
    return [problem(name, `the operator ${name} has no settings; remove the section`)];
  }
  // Only an operator with its own parser can validate its section; it does so during setup.
  return [];
}

function problemsWith(
  value: unknown,
  schema: StructuralSchema,
  path: string,
  more: readonly string[],
): readonly FieldProblem[] {
  const filled = applyDefaults(value, schema);
  return [
    ...validate(filled, schema, { path }),
    ...unknownFields(filled, schema).map((field) => {
      const at = path === '' ? field : `${path}.${field}`;
      return problem(at, `unknown setting${didYouMean(lastOf(field), [...siblings(schema, field), ...more])}`);
    }),
  ].filter(({ field }) => field !== '<nil>');
}

function lastOf(field: string): string {
  return field.slice(field.lastIndexOf('.') + 1);
}

/** siblings returns the fields that could have been meant instead of an unknown one. */
function siblings(schema: StructuralSchema, field: string): readonly string[] {
  let parent: StructuralSchema | undefined = schema;
  for (const step of field.split('.').slice(0, -1)) {
    const parentSchema: StructuralSchema = parent ?? {};
    const values =
      typeof parentSchema.additionalProperties === 'object' ? parentSchema.additionalProperties : undefined;
    const found = parentSchema.properties?.[step.replace(/\[\d+\]$/, '')] ?? values;
    parent = step.endsWith(']') ? found?.items : found;
  }
  return Object.keys(parent?.properties ?? {});
}

function problem(field: string, message: string): FieldProblem {
  return { field, reason: 'FieldValueInvalid', message };
}

function refuseProblems(source: string, problems: readonly FieldProblem[], file?: ConfigFile): void {
  if (problems.length === 0) return;
  const lines = problems.map((problem) => {
    const line = file?.lineOf(problem.field);
    return `${line === undefined ? '' : `line ${line}: `}${formatProblem(problem)}`;
  });
  throw new BowlineError(
    'BOWLINE_CONFIG_INVALID',
    `invalid configuration from ${source}: ${[...new Set(lines)].join('; ')}; see docs/reference/configuration.md`,
  );
}

function formatProblem({ field, message }: FieldProblem): string {
  return `${field}: ${message}`;
}
