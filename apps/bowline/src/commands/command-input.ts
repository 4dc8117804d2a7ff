import type { Registry } from '../operators/registry.ts';
import type { Io } from '../terminal/io.ts';

/** CommandInput is what a command is made from. */
export interface CommandInput {
  readonly registry: Registry;
  readonly io: Io;
  /** What follows the command's name: it decides which settings there are. */
  readonly args: readonly string[];
}
