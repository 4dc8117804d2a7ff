import { addAbortSignal, type Readable } from 'node:stream';

/**
 * readBounded reads a stream of bytes to its end. It returns undefined, and closes the stream, if there are more than
 * `maxBytes`. Rejects with the signal's reason when it is aborted.
 */
export async function readBounded(
  stream: Readable,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    addAbortSignal(signal, stream);
    for await (const chunk of stream as AsyncIterable<Uint8Array>) {
      size += chunk.length;
      // Leaving the loop closes the stream.
      if (size > maxBytes) return undefined;
      chunks.push(Buffer.from(chunk));
    }
    return Buffer.concat(chunks);
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    // The content may be a secret, and the caller has a copy.
    for (const chunk of chunks) chunk.fill(0);
  }
}
