import { orders, report } from '../../../support/subject.ts';

/** The values of the secret that is read. */
const values = 3;

/**
 * serveReads reports that this process is ready, and on every line with a number reads as often and reports the durations, in
 * microseconds. `read` returns how many values it has read.
 */
export async function serveReads(read: () => number | Promise<number>): Promise<void> {
  report({ ready: true });
  for await (const line of orders()) {
    const times: number[] = [];
    for (let count = 0; count < Number(line); count += 1) {
      const start = performance.now();
      const found = await read();
      times.push((performance.now() - start) * 1_000);
      if (found !== values) throw new Error(`read ${found} values instead of ${values}`);
    }
    report({ times });
  }
}
