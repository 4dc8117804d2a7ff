import type { CommandInput } from './command-input.ts';

/** CommandFlag configures the flag of a command's option beyond what its schema describes. */
export interface CommandFlag {
  /**
   * The environment variable that the flag defaults to. An empty variable counts as unset. It must not hold a secret:
   * declare an input instead. Defaults to none.
   */
  readonly env?: string | undefined;
  /** Whether the help omits it. Defaults to false. */
  readonly hidden?: boolean | undefined;
  /**
   * Whether each use of the flag adds one value, taken literally. Otherwise the values of a list are separated by
   * commas. Only for lists. Defaults to false.
   */
  readonly repeatable?: boolean | undefined;
}

/** CommandFlags configure flags by the names of their options. */
export type CommandFlags = Readonly<Record<string, CommandFlag | undefined>>;

/** flagName returns the name of the flag for a field, without dashes: `podName` becomes `pod-name`. */
export function flagName(field: string): string {
  return field.replace(/[A-Z]+/g, (capitals) => `-${capitals.toLowerCase()}`);
}

/**
 * inputFlagName returns the name of the flag that selects the file of an input: `pin` becomes `pin-file`. That of
 * manifests is `filename`, as in kubectl.
 */
export function inputFlagName(name: string, { manifests = false }: Pick<CommandInput, 'manifests'> = {}): string {
  return manifests ? 'filename' : `${flagName(name)}-file`;
}

/** RESERVED_FLAGS holds the flags that the program itself adds to commands. */
export const RESERVED_FLAGS: ReadonlySet<string> = new Set([
  'context',
  'help',
  'kubeconfig',
  'log-format',
  'log-level',
  'manager-namespace',
  'namespace',
  'output',
]);
