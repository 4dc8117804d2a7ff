import { createHash } from 'node:crypto';

/** RenderedFile is a configuration file of a SPIRE program. */
export interface RenderedFile {
  readonly text: string;
  /** The SHA-256 of the text, in hexadecimal: a pod template with another hash restarts its pods. */
  readonly hash: string;
}

/**
 * renderFile writes a configuration as JSON with sorted keys, so that equal configurations give equal bytes and cause no
 * rollout. SPIRE reads JSON as HCL, and JSON is YAML. Members that are undefined are left out.
 */
export function renderFile(config: object): RenderedFile {
  const text = `${JSON.stringify(sorted(config), undefined, 2)}\n`;
  return { text, hash: fileHash(text) };
}

/** fileHash returns the hash of a rendered file. */
export function fileHash(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, member]) => [name, sorted(member)]));
}
