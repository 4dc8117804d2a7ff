import { availableParallelism, loadavg, totalmem } from 'node:os';
import type { Machine } from '../result.ts';

/** describeMachine tells what a reader needs to judge the numbers, and nothing that names the machine. */
export function describeMachine(versions: Readonly<Record<string, string>>, loadBefore: number): Machine {
  return {
    cores: availableParallelism(),
    memoryGb: Math.round(totalmem() / 1e9),
    platform: `${process.platform} ${process.arch}`,
    loadBefore,
    versions: { node: process.versions.node, ...versions },
  };
}

/** currentLoad is the load average of the last minute, to a tenth. */
export function currentLoad(): number {
  return Math.round((loadavg()[0] ?? 0) * 10) / 10;
}
