import type { Command } from '@bowline/runtime/manager';
import { deviceCommands } from './device-commands.ts';
import { secretCommands } from './secret-commands.ts';

/** apiCommands are the commands that call the API of the manager. */
export const apiCommands: readonly Command[] = [...secretCommands, ...deviceCommands];
