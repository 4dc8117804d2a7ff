import type { PodTemplateSpec } from '@bowline/kubernetes';

const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';
const OFFSET = 0x811c9dc5;
const PRIME = 0x01000193;

/** templateHash returns a short name for a template, the same for equal templates; a collision count changes it. */
export function templateHash(template: PodTemplateSpec | undefined, collisionCount = 0): string {
  let hash = fnv(OFFSET, canonical(template ?? {}));
  if (collisionCount > 0) hash = fnv(hash, String(collisionCount));
  return [...String(hash >>> 0)].map((digit) => ALPHABET[digit.charCodeAt(0) % ALPHABET.length]).join('');
}

/** FNV-1a: short, and good enough for names whose collisions are detected. */
function fnv(start: number, text: string): number {
  let hash = start;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, PRIME);
  return hash;
}

/** canonical returns the JSON text of a value with sorted members and without empty ones. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null);
  const members = Object.entries(value)
    .map(([key, member]) => [key, member === undefined || member === null ? '{}' : canonical(member)] as const)
    .filter(([, text]) => text !== '{}')
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([key, text]) => `${JSON.stringify(key)}:${text}`).join(',')}}`;
}
