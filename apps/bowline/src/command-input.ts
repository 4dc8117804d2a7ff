import type { Io } from './io.ts';
import type { Registry } from './registry.ts';

/** CommandInput is what a command is made from. */
export interface CommandInput {
  readonly registry: Registry;
  readonly io: Io;
  /** What follows the command's name: it decides which settings there are. */
  readonly args: readonly string[];
}
