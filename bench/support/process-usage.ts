import { readFileSync } from 'node:fs';

/** Memory is a process's resident memory, in megabytes (10^6 bytes). */
export interface Memory {
  readonly peakMb: number;
  readonly currentMb: number;
}

/** memoryOf reads the kernel's memory statistics of a process. */
export function memoryOf(pid: number | undefined): Memory {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return { peakMb: megabytes(status, 'VmHWM'), currentMb: megabytes(status, 'VmRSS') };
}

/** cpuMsOf returns the processor time used by a process, to a hundredth of a second. */
export function cpuMsOf(pid: number | undefined): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name in parentheses may contain anything; user and system time are the 12th and 13th field after it, in ticks of 10 ms:
  // Linux reports that unit to user space whatever its own clock is.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** childrenOf returns the processes that a process has started. */
export function childrenOf(pid: number | undefined): readonly number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
}

/** treeOf returns a process and all that it and its children have started and that still run. */
export function treeOf(pid: number | undefined): readonly number[] {
  if (pid === undefined) return [];
  return [pid, ...(unlessEnded(() => childrenOf(pid)) ?? []).flatMap(treeOf)];
}

/** treeMemoryMb returns the resident memory of a process and all that it has started. Pages that they share count for each. */
export function treeMemoryMb(pid: number | undefined): number {
  const sizes = treeOf(pid).map((each) => unlessEnded(() => memoryOf(each).currentMb) ?? 0);
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** A process can end while it is looked at: its files are missing then, or its status has no memory any more. */
function unlessEnded<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

function megabytes(status: string, field: string): number {
  const kilobytes = new RegExp(`^${field}:\\s*(\\d+) kB$`, 'm').exec(status)?.[1];
  if (kilobytes === undefined) throw new Error(`/proc does not report ${field}; this benchmark needs Linux`);
  return (Number(kilobytes) * 1024) / 1e6;
}
