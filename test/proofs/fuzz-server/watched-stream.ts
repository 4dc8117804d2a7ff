/** WatchedStream reads a watch while it is open: every line must be an event, and versions must ascend. */
export class WatchedStream {
  readonly problems: string[] = [];
  readonly #gone: AbortController;
  readonly #path: string;
  #newest = 0n;
  #rest = '';

  constructor(body: AsyncIterable<Uint8Array>, gone: AbortController, path: string) {
    this.#gone = gone;
    this.#path = path;
    this.#read(body).catch((error: unknown) => {
      if (!gone.signal.aborted) this.problems.push(`the watch of ${path} broke: ${String(error)}`);
    });
  }

  close(): void {
    this.#gone.abort();
  }

  async #read(body: AsyncIterable<Uint8Array>): Promise<void> {
    for await (const chunk of body) {
      const lines = (this.#rest + Buffer.from(chunk).toString()).split('\n');
      this.#rest = lines.pop() ?? '';
      for (const line of lines) this.#judge(line);
    }
  }

  #judge(line: string): void {
    const { type, object } = JSON.parse(line) as { type: string; object: { metadata?: { resourceVersion?: string } } };
    // Initial objects arrive in the order of their names.
    if (type === 'ERROR' || type === 'ADDED') return;
    const version = BigInt(object.metadata?.resourceVersion ?? '0');
    if (version < this.#newest)
      this.problems.push(`the watch of ${this.#path} went back from ${this.#newest} to ${version}`);
    this.#newest = version;
  }
}
