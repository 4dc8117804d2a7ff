import { inspect } from 'node:util';
import { BowlineError } from '@bowline/runtime';
import { CommanderError } from 'commander';
import { exitCodes, usageErrors } from './exit-codes.ts';
import type { Io } from './io.ts';

/**
 * report prints an error as a user should see it and answers the exit code: one line, and the code to look up, for what
 * Bowline throws on purpose; a stack for what it does not.
 */
export function report(error: unknown, io: Pick<Io, 'err' | 'colors'>): number {
  // Commander has printed its message, or the help that was asked for.
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.success : exitCodes.usage;
  if (error instanceof BowlineError) {
    const { red, dim } = io.colors.err;
    io.err(`${red('error:')} ${error.message} ${dim(`[${error.code}]`)}\n`);
    return usageErrors.has(error.code) ? exitCodes.usage : exitCodes.failure;
  }
  io.err(`${inspect(error)}\n`);
  return exitCodes.failure;
}
