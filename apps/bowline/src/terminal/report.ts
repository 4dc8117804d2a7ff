import { inspect } from 'node:util';
import { BowlineError } from '@bowline/runtime';
import { CommanderError } from 'commander';
import { exitCodes, usageErrors } from './exit-codes.ts';
import type { Io } from './io.ts';

/**
 * report prints an error for the user and returns the exit code: one line, and the code to look up, for errors that
 * Bowline throws on purpose; a stack trace for all others.
 */
export function report(error: unknown, io: Pick<Io, 'err' | 'colors'>): number {
  // Commander has already printed its message, or the requested help.
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.success : exitCodes.usage;
  if (error instanceof BowlineError) {
    const { red, dim } = io.colors.err;
    io.err(`${red('error:')} ${error.message} ${dim(`[${error.code}]`)}\n`);
    return usageErrors.has(error.code) ? exitCodes.usage : exitCodes.failure;
  }
  io.err(`${inspect(error)}\n`);
  return exitCodes.failure;
}
