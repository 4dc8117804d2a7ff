import { BowlineError } from '@bowline/runtime';
import { CommanderError } from 'commander';
import pc from 'picocolors';
import { exitCodes } from './exit-codes.ts';

/**
 * report prints an error as a user should see it and answers the exit code: one line, and the code to look up, for what
 * Bowline throws on purpose; a stack for what it does not.
 */
export function report(error: unknown): number {
  // Commander has printed its message, or the help that was asked for.
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.success : exitCodes.usage;
  if (error instanceof BowlineError) {
    console.error(`${pc.red('error:')} ${error.message} ${pc.dim(`[${error.code}]`)}`);
  } else {
    console.error(error);
  }
  return exitCodes.failure;
}
