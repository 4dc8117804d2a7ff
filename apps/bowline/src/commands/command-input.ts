import type { Registry } from '../operators/registry.ts';
import type { Io } from '../terminal/io.ts';

/** CommandInput holds what a command is built from. */
export interface CommandInput {
  readonly registry: Registry;
  readonly io: Io;
  /** The arguments after the command's name: they decide which settings exist. */
  readonly args: readonly string[];
}
