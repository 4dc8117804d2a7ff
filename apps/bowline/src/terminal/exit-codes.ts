/** exitCodes holds the exit codes of the command line; docs/reference/cli.md lists them. */
export const exitCodes = {
  success: 0,
  /** The command failed; the message explains why and what to do. */
  failure: 1,
  /** A mistake on the command line or in the configuration: nothing was attempted. */
  usage: 2,
} as const;

/** usageErrors holds the codes of mistakes that are found before anything is attempted. */
export const usageErrors: ReadonlySet<string> = new Set([
  'BOWLINE_ARGUMENT_INVALID',
  'BOWLINE_COMMAND_UNKNOWN',
  'BOWLINE_CONFIG_FILE',
  'BOWLINE_CONFIG_INVALID',
  'BOWLINE_CONTROL_PLANE_OPTIONS',
  'BOWLINE_IMAGE_MISSING',
  'BOWLINE_INPUT_INVALID',
  'BOWLINE_INSTALL_INVALID',
  'BOWLINE_OPERATORS_MISSING',
  'BOWLINE_OPERATOR_UNKNOWN',
  'BOWLINE_TERMINAL_MISSING',
  'BOWLINE_TYPES_INPUT',
  'BOWLINE_TYPES_OUTPUT',
  'BOWLINE_UNINSTALL_UNCONFIRMED',
  'BOWLINE_UP_UNCONFIRMED',
]);

/** exitCodeHelp is printed at the end of the help. */
export const exitCodeHelp = `
Exit codes: ${exitCodes.success} success, ${exitCodes.failure} failure, ${exitCodes.usage} invalid command line or configuration; nothing was attempted.`;
