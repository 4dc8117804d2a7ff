import type { Content } from './content.ts';

export { MAX_CONTENT_BYTES } from '@bowline/machinery';

/** contentSize returns the size of content as the API server counts it: only the values, binary ones decoded. */
export function contentSize({ data, binaryData }: Content): number {
  let size = 0;
  for (const value of Object.values(data)) size += Buffer.byteLength(value, 'utf8');
  for (const value of Object.values(binaryData)) size += Buffer.byteLength(value, 'base64');
  return size;
}
