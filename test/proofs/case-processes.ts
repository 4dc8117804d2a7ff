import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';

const MAX_PROCESSES = 4;

/**
 * CaseProcesses runs cases in processes of their own, so that all processors are used, and a case that crashes names
 * itself. The program receives a seed and sends the result of its case, one after the other, until it is disconnected.
 */
export class CaseProcesses<Result> implements AsyncDisposable {
  readonly #program: string;
  readonly #idle: ChildProcess[] = [];

  constructor(program: URL) {
    this.#program = fileURLToPath(program);
  }

  /** concurrency is how many cases may run at the same time. */
  readonly concurrency: number = Math.min(availableParallelism(), MAX_PROCESSES);

  /** run returns the result of a case. It rejects if the process of the case ends. */
  async run(seed: number): Promise<Result> {
    const child = this.#idle.pop() ?? fork(this.#program);
    const over = new AbortController();
    const { signal } = over;
    const answer = once(child, 'message', { signal }) as Promise<[Result]>;
    const died = once(child, 'exit', { signal }).then(([code, by]) => {
      throw new Error(`the process of the case ${seed} ended with ${code ?? by}`);
    });
    try {
      child.send(seed);
      const [result] = await Promise.race([answer, died]);
      this.#idle.push(child);
      return result;
    } finally {
      over.abort();
      // Ended by the abort, unless it was first.
      await Promise.allSettled([answer, died]);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(
      this.#idle.splice(0).map(async (child) => {
        child.disconnect();
        await once(child, 'exit');
      }),
    );
  }
}
