import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

/**
 * disableCoreDumps keeps the memory of this process, and so secrets and PINs, out of core dumps. It returns whether that
 * is certain.
 *
 * Node cannot set a resource limit, but Linux lets a process choose what its dumps contain: here nothing. This also holds
 * where dumps are piped to a program, which the limit does not prevent. The limit is set too, if util-linux is installed.
 */
export function disableCoreDumps(): boolean {
  try {
    execFileSync('prlimit', ['--core=0:0', `--pid=${process.pid}`], { stdio: 'ignore', timeout: 5_000 });
  } catch {
    // It is not installed, or there is no permission.
  }
  try {
    writeFileSync('/proc/self/coredump_filter', '0');
    return Number.parseInt(readFileSync('/proc/self/coredump_filter', 'utf8'), 16) === 0;
  } catch {
    return false;
  }
}
