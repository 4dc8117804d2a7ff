/** ImageError is a problem that the caller can solve; its message says how. The command exits with code 2. */
export class ImageError extends Error {
  override readonly name = 'ImageError';
}
