import { availableParallelism, totalmem } from 'node:os';
import type { Machine } from '../result.ts';

/** describeMachine tells what a reader needs to judge the numbers, and nothing that names the machine. */
export function describeMachine(versions: Readonly<Record<string, string>>): Machine {
  return {
    cores: availableParallelism(),
    memoryGb: Math.round(totalmem() / 1e9),
    platform: `${process.platform} ${process.arch}`,
    versions: { node: process.versions.node, ...versions },
  };
}
