import { integerBelow, pick, type Random } from '@bowline/machinery';
import type { StructuralSchema } from '@bowline/machinery/schema';
import { chance } from './random-schema.ts';

const SAMPLES: Readonly<Record<string, readonly string[]>> = {
  'date-time': ['2026-03-01T12:00:00Z', '2025-01-01T00:00:00.5+01:00'],
  date: ['2026-03-01', '2025-12-31'],
  duration: ['1h', '90s', '3 days'],
  ipv4: ['10.0.0.1', '01.2.3.4'],
  ipv6: ['::1', '2001:db8::1'],
  cidr: ['10.0.0.0/8', '::/0'],
  uri: ['https://a/b', '/x', 'a:b'],
  email: ['a@b', 'A <a@b.c>'],
  hostname: ['example.com', 'a'],
  uuid: ['6ba7b8109dad11d180b400c04fd430c8'],
  byte: ['aGVsbG8=', 'aGk='],
  mac: ['00:00:5e:00:53:01'],
  'k8s-short-name': ['abc'],
  'k8s-long-name': ['a.b-c'],
};
const TEXTS = [
  '',
  'a',
  'b',
  'abc',
  'foo',
  'bar',
  'red',
  'green',
  'a"b',
  '12',
  '12%',
  'é😀',
  'ABC',
  'a\nb',
  'x@y',
  'a long text with blanks',
  '<&>',
  '\u0007',
  '10.0.0.1',
  '2026-03-01',
];
const INTEGERS = [0, 1, 2, 3, 4, 5, 6, 7, -1, -3, 10, 12, 300, 1_000_000, 9_007_199_254_740_991];
const FRACTIONS = [0.5, 1.5, 2.25, 3.1, -0.5, 12_345_678.5, 1e21, 0.00001, 2.5, 9.75];

/** validValue returns a value that mostly matches a schema; undefined if none was found. */
export function validValue(random: Random, schema: StructuralSchema): unknown {
  if (schema.nullable === true && chance(random, 0.1)) return null;
  if (schema.enum !== undefined && schema.enum.length > 0) return pick(random, schema.enum);
  if (schema['x-kubernetes-int-or-string'] === true)
    return chance(random, 0.5) ? pick(random, INTEGERS) : pick(random, ['1', '12%', 'web']);
  switch (schema.type) {
    case 'string':
      return pick(random, SAMPLES[schema.format ?? ''] ?? TEXTS);
    case 'integer':
      return pick(random, INTEGERS);
    case 'number':
      return pick(random, chance(random, 0.5) ? INTEGERS : FRACTIONS);
    case 'boolean':
      return chance(random, 0.5);
    case 'array':
      return validList(random, schema);
    case 'object':
      return validObject(random, schema);
    default:
      return anything(random);
  }
}

function validList(random: Random, schema: StructuralSchema): unknown[] {
  const { items } = schema;
  const count = (schema.minItems ?? 0) + integerBelow(random, 3);
  if (items === undefined) return [];
  return Array.from({ length: Math.min(count, schema.maxItems ?? count) }, () => validValue(random, items));
}

function validObject(random: Random, schema: StructuralSchema): Record<string, unknown> {
  const object: Record<string, unknown> = {};
  if (schema['x-kubernetes-embedded-resource'] === true) {
    const metadata = chance(random, 0.7) ? { name: pick(random, ['ok', 'a/b', '..']) } : {};
    return { apiVersion: pick(random, ['v1', 'apps/v1']), kind: pick(random, ['Pod', 'Thing']), metadata };
  }
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    if (schema.required?.includes(name) !== true && chance(random, 0.4)) continue;
    object[name] = validValue(random, field);
  }
  if (typeof schema.additionalProperties === 'object') {
    const inner = schema.additionalProperties;
    for (const key of ['a', 'b', 'k.x/y'].slice(0, 1 + integerBelow(random, 3)))
      object[key] = validValue(random, inner);
  }
  return object;
}

/** anything returns arbitrary JSON. */
export function anything(random: Random): unknown {
  switch (integerBelow(random, 7)) {
    case 0:
      return pick(random, TEXTS);
    case 1:
      return pick(random, INTEGERS);
    case 2:
      return pick(random, FRACTIONS);
    case 3:
      return chance(random, 0.5);
    case 4:
      return null;
    case 5:
      return [pick(random, TEXTS)];
    default:
      return { a: pick(random, INTEGERS) };
  }
}

/** damaged returns a value with a random change: another type, a missing or unknown field, a duplicate, a null. */
export function damaged(random: Random, value: unknown): unknown {
  if (Array.isArray(value) && value.length > 0 && chance(random, 0.7)) {
    const index = integerBelow(random, value.length);
    if (chance(random, 0.25)) return [...value, value[index]];
    if (chance(random, 0.15)) return value.filter((_, position) => position !== index);
    return value.map((item, position) => (position === index ? damaged(random, item) : item));
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value) && chance(random, 0.8)) {
    const entries = Object.entries(value);
    if (entries.length === 0 || chance(random, 0.15)) return { ...value, unknown: anything(random) };
    const index = integerBelow(random, entries.length);
    if (chance(random, 0.2)) return Object.fromEntries(entries.filter((_, position) => position !== index));
    return Object.fromEntries(
      entries.map(([key, item], position) => [key, position === index ? damaged(random, item) : item]),
    );
  }
  return anything(random);
}
