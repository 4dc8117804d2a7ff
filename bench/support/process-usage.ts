import { readFileSync } from 'node:fs';

/** Memory is a process's resident memory, in megabytes (10^6 bytes). */
export interface Memory {
  readonly peakMb: number;
  readonly currentMb: number;
}

/** memoryOf reads the kernel's own account of a process. */
export function memoryOf(pid: number | undefined): Memory {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return { peakMb: megabytes(status, 'VmHWM'), currentMb: megabytes(status, 'VmRSS') };
}

/** cpuMsOf is the processor time that a process has used, to a hundredth of a second. */
export function cpuMsOf(pid: number | undefined): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name in parentheses may hold anything; user and system time are the 12th and 13th field behind it, in ticks of
  // 10 ms: Linux tells user space that unit whatever its own clock is.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

function megabytes(status: string, field: string): number {
  const kilobytes = new RegExp(`^${field}:\\s*(\\d+) kB$`, 'm').exec(status)?.[1];
  if (kilobytes === undefined) throw new Error(`/proc does not tell ${field}; this benchmark needs Linux`);
  return (Number(kilobytes) * 1024) / 1e6;
}
