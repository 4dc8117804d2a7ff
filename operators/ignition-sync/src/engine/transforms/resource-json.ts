import { createHash } from 'node:crypto';
import { isObject, parseJson } from '@bowline/machinery';

/** MAX_RESOURCE_JSON_BYTES is the maximum size of a `resource.json` that is compared by its members. */
export const MAX_RESOURCE_JSON_BYTES = 1024 * 1024;

/** A gateway rewrites these in the files that it reads after a change. */
const REWRITTEN: ReadonlySet<string> = new Set(['lastModification', 'lastModificationSignature']);

/** isResourceJson returns whether a path is one of the files that a gateway rewrites. */
export function isResourceJson(path: string): boolean {
  return path === 'resource.json' || path.endsWith('/resource.json');
}

/**
 * hashResourceJson returns a hash that is the same for two `resource.json` files that differ only in what a gateway rewrites:
 * two attributes, the order of members and the space between them. It returns undefined for a file that is not JSON.
 */
export function hashResourceJson(content: Buffer): string | undefined {
  if (content.length > MAX_RESOURCE_JSON_BYTES) return undefined;
  try {
    const { value } = parseJson(content.toString().replace(/^\ufeff/, ''), {
      number: (literal) => new NumberText(literal),
    });
    return createHash('sha256')
      .update(canonical(withoutRewritten(value)))
      .digest('hex')
      .slice(0, 32);
  } catch {
    return undefined;
  }
}

/** A number as it is written. */
class NumberText {
  readonly literal: string;

  constructor(literal: string) {
    this.literal = literal;
  }
}

function withoutRewritten(value: unknown): unknown {
  if (!isObject(value) || !isObject(value.attributes)) return value;
  const kept = Object.entries(value.attributes).filter(([name]) => !REWRITTEN.has(name));
  const others = Object.entries(value).filter(([name]) => name !== 'attributes');
  // A gateway also adds the attributes where there were none.
  return Object.fromEntries(kept.length === 0 ? others : [...others, ['attributes', Object.fromEntries(kept)]]);
}

function canonical(value: unknown): string {
  if (value instanceof NumberText) return value.literal;
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join()}}`;
}
