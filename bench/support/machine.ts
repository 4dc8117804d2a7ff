import { availableParallelism, loadavg, totalmem } from 'node:os';
import type { Machine } from '../result.ts';

/** describeMachine returns what is needed to interpret the numbers, without identifying the machine. */
export function describeMachine(versions: Readonly<Record<string, string>>, loadBefore: number): Machine {
  return {
    cores: availableParallelism(),
    memoryGb: Math.round(totalmem() / 1e9),
    platform: `${process.platform} ${process.arch}`,
    loadBefore,
    versions: { node: process.versions.node, ...versions },
  };
}

/** currentLoad returns the load average of the last minute, to a tenth. */
export function currentLoad(): number {
  return Math.round((loadavg()[0] ?? 0) * 10) / 10;
}
