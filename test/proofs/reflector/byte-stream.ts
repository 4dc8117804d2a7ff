/** ByteStream is a response body that is written while it is read. */
export class ByteStream implements AsyncIterable<Uint8Array> {
  #chunks: Uint8Array[] = [];
  #end: { readonly error?: unknown } | undefined;
  #wake: (() => void) | undefined;

  /** ended returns whether nothing more will be written. */
  get ended(): boolean {
    return this.#end !== undefined;
  }

  /** unread returns the number of chunks that wait for the reader. */
  get unread(): number {
    return this.#chunks.length;
  }

  write(text: string): void {
    if (this.#end) return;
    this.#chunks.push(Buffer.from(text));
    this.#wake?.();
  }

  /** end closes the body cleanly once everything written has been read. */
  end(): void {
    this.#end ??= {};
    this.#wake?.();
  }

  /** fail breaks the body immediately; unread data is lost, as with a connection. */
  fail(error: unknown): void {
    if (this.#end && 'error' in this.#end) return;
    this.#chunks = [];
    this.#end = { error };
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (;;) {
      const chunk = this.#chunks.shift();
      if (chunk) {
        yield chunk;
      } else if (this.#end) {
        if ('error' in this.#end) throw this.#end.error;
        return;
      } else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        this.#wake = undefined;
      }
    }
  }
}
