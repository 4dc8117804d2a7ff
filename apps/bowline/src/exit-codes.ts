/** ExitCode is how the command line ends; docs/reference/cli.md lists them. */
export const exitCodes = {
  success: 0,
  /** The command could not do what was asked; the message says why and what to do. */
  failure: 1,
  /** An unknown command, option or value: nothing was attempted. */
  usage: 2,
} as const;

/** exitCodeHelp stands at the end of the help. */
export const exitCodeHelp = `
Exit codes: ${exitCodes.success} done, ${exitCodes.failure} could not be done (the message says why), ${exitCodes.usage} unknown command, option or value.`;
