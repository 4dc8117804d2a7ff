import type { Command } from '@bowline/runtime/manager';
import { approveCommand } from './approve-command.ts';
import { diffCommand } from './diff-command.ts';
import { samplePushCommand } from './sample-push-command.ts';

/** userCommands are the commands for people: `bowline ignition-sync approve|diff|sample push`. */
export const userCommands: readonly Command[] = [approveCommand, diffCommand, samplePushCommand];
