import { integerBelow, pick, type Random } from '@bowline/machinery';
import { stringify } from 'yaml';
import { chance, randomAnnotation } from './annotation-values.ts';

/** HostileAnnotation is a possible text of the annotation. */
export interface HostileAnnotation {
  readonly family: string;
  readonly text: string;
}

/** The maximum size of an annotation, and a little more. */
const MAX_CHARACTERS = 66_000;

/** hostileAnnotation returns an annotation: valid, invalid, or no annotation at all. */
export function hostileAnnotation(random: Random): HostileAnnotation {
  const dice = random.next();
  if (dice < 0.5) return { family: 'structured', text: written(random) };
  if (dice < 0.8) return { family: 'mutated', text: mutated(random, written(random)) };
  if (dice < 0.92) return { family: 'tokens', text: soup(random) };
  if (dice < 0.999) return { family: 'bytes', text: bytes(random) };
  return { family: 'large', text: large(random) };
}

function written(random: Random): string {
  const annotation = randomAnnotation(random);
  if (chance(random, 0.3)) return JSON.stringify(annotation, bigintAsText, pick(random, [0, 2, '\t'])) ?? '';
  return stringify(annotation, {
    indent: pick(random, [2, 4]),
    collectionStyle: pick(random, ['any', 'block', 'flow']),
    defaultStringType: pick(random, ['PLAIN', 'QUOTE_DOUBLE', 'QUOTE_SINGLE', 'BLOCK_LITERAL'] as const),
    lineWidth: pick(random, [0, 20, 80]),
    aliasDuplicateObjects: false,
  });
}

function bigintAsText(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value;
}

/** Tokens with a meaning in YAML, and tokens that may confuse a parser. */
const TOKENS = [
  '&a ',
  '*a',
  '!!str ',
  '!x ',
  '! ',
  '<<: *a\n',
  '<<: ',
  '---\n',
  '...\n',
  '%YAML 1.1\n---\n',
  '%TAG ! x\n',
  '? ',
  ': ',
  '- ',
  '-\n',
  '| ',
  '|\n',
  '|2-\n',
  '>\n',
  '# c\n',
  '[',
  ']',
  '{',
  '}',
  ',',
  '"',
  "'",
  '\\',
  '\\u0000',
  '\\ud800',
  '\\x',
  '\t',
  ' ',
  '  ',
  '\n',
  '\r\n',
  '\r',
  '\ufeff',
  '\u0000',
  '\u0007',
  '\u0085',
  '\u2028',
  '\u00a0',
  '\ud800',
  '\udc00',
  '😀',
  'é',
  '{{ ',
  ' }}',
  '~',
  'null',
  'true',
  'yes',
  '0',
  '0x1F',
  '1e3',
  '.inf',
  '2026-01-01',
  'secrets:\n',
  'provider: mock\n',
  'path: a\n',
  'secretName: a\n',
  'keys: ',
  'template: ',
  'provider',
  'secretName',
  '__proto__: ',
  'constructor: ',
  'a: ',
  'x',
  '\n  ',
  '\n- ',
  '@',
  '`',
  '%',
  '=',
];

function mutated(random: Random, text: string): string {
  let result = text;
  for (let left = 1 + integerBelow(random, 2); left > 0; left--) result = mutation(random, result);
  return result.slice(0, MAX_CHARACTERS);
}

function mutation(random: Random, text: string): string {
  const at = integerBelow(random, text.length + 1);
  const length = 1 + integerBelow(random, 12);
  const lines = text.split('\n');
  const line = integerBelow(random, lines.length);
  switch (integerBelow(random, 9)) {
    case 0:
      return text.slice(0, at) + pick(random, TOKENS) + text.slice(at);
    case 1:
      return text.slice(0, at) + text.slice(at + length);
    case 2:
      return text.slice(0, at) + text.slice(at, at + length).repeat(2) + text.slice(at + length);
    case 3:
      return text.slice(0, at);
    case 4:
      return lines.toSpliced(line, 0, lines[integerBelow(random, lines.length)] ?? '').join('\n');
    case 5:
      return lines.toSpliced(line, 1).join('\n');
    case 6:
      return (
        text.slice(0, at) +
        String.fromCharCode(integerBelow(random, chance(random, 0.5) ? 128 : 65_536)) +
        text.slice(at + 1)
      );
    case 7:
      return chance(random, 0.5) ? text.replaceAll('\n', '\r\n') : `\ufeff${text}`;
    default:
      return lines.map((each, index) => (index === line ? pick(random, TOKENS) + each : each)).join('\n');
  }
}

function soup(random: Random): string {
  return Array.from({ length: integerBelow(random, 40) }, () => pick(random, TOKENS)).join('');
}

function bytes(random: Random): string {
  const content = Uint8Array.from({ length: integerBelow(random, 200) }, () => integerBelow(random, 256));
  return Buffer.from(content).toString(pick(random, ['utf8', 'latin1', 'utf16le']));
}

function large(random: Random): string {
  const unit = Array.from({ length: 1 + integerBelow(random, 3) }, () => pick(random, TOKENS)).join('');
  const count = Math.ceil(integerBelow(random, MAX_CHARACTERS) / unit.length);
  const repeated = unit.repeat(count);
  return chance(random, 0.3)
    ? `provider: mock\npath: a\nsecretName: a\ntemplate: {a: ${JSON.stringify(repeated)}}`
    : repeated;
}
