import { integerBelow, pick, type Random } from '@bowline/machinery';
import { stringify } from 'yaml';
import { chance, hostileText } from './hostile-texts.ts';

/** Body is bytes or text, and its content type. */
export interface Body {
  readonly contentType: string;
  readonly content: string | Uint8Array;
}

/** hostileBody serializes a value in one of the formats, and sometimes damages the text. */
export function hostileBody(random: Random, value: unknown): Body {
  const share = random.next();
  const body =
    share < 0.7 ? jsonBody(random, value) : share < 0.85 ? yamlBody(random, value) : protobufBody(random, value);
  return chance(random, 0.15) ? { ...body, content: damagedBytes(random, body.content) } : body;
}

function jsonBody(random: Random, value: unknown): Body {
  const text = JSON.stringify(value) ?? '';
  const contentType = pick(random, ['application/json', 'application/json; charset=utf-8', 'Application/JSON']);
  if (!chance(random, 0.05)) return { contentType, content: text };
  const odd = [
    // Duplicate members, and numbers and escapes that not every parser accepts.
    text.replace(/"(\w+)":/, '"$1":1,"$1":'),
    text.replace(/"[^"]*"(?=[,}])/, '1e400'),
    text.replace(/"[^"]*"(?=[,}])/, '123456789012345678901234567890'),
    text.replace(/"[^"]*"(?=[,}])/, '"\\ud800"'),
    `${text} ${text}`,
    `\ufeff${text}`,
    '['.repeat(20_000),
    `${'{"a":'.repeat(12_000)}1${'}'.repeat(12_000)}`,
    '',
    'null',
    '[]',
    '"text"',
    '{}',
  ];
  return { contentType, content: pick(random, odd) };
}

const BOMB = `a: &a [x,x,x,x,x,x,x,x,x]
b: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]
c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]
d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]
e: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]
f: [*e,*e,*e,*e,*e,*e,*e,*e,*e]
`;

function yamlBody(random: Random, value: unknown): Body {
  const contentType = 'application/yaml';
  const odd = [
    BOMB,
    'a: &a\n  b: *a\n',
    '? [complex]\n: key\n',
    '--- 1\n--- 2\n',
    '!!js/function "x"\n',
    '!!binary aGk=\n',
    '<<: {__proto__: {polluted: true}}\n',
    `${'- '.repeat(3_000)}a\n`,
    'a: 2026-01-02\nb: 0o17\nc: .inf\nd: ~\n',
    '%YAML 9.9\n---\na: b\n',
    '\ta: b\n',
  ];
  if (chance(random, 0.2)) return { contentType, content: pick(random, odd) };
  try {
    return { contentType, content: stringify(value) };
  } catch {
    // Too deep for the serializer; JSON is YAML too.
    return { contentType, content: JSON.stringify(value) };
  }
}

/** protobufBody returns the envelope of the API's protobuf with arbitrary fields inside. */
function protobufBody(random: Random, value: unknown): Body {
  const { apiVersion, kind } = (value ?? {}) as { readonly apiVersion?: unknown; readonly kind?: unknown };
  const typeMeta = Buffer.concat([bytesField(1, text(apiVersion)), bytesField(2, text(kind))]);
  const raw = chance(random, 0.3) ? soundMessage(random) : randomMessage(random, 4);
  const parts = [Buffer.from('k8s\0'), bytesField(1, typeMeta), bytesField(2, raw)];
  return { contentType: 'application/vnd.kubernetes.protobuf', content: Buffer.concat(parts) };
}

const text = (value: unknown): Buffer => Buffer.from(typeof value === 'string' ? value : '');

/** Metadata with a name, then random fields. */
function soundMessage(random: Random): Buffer {
  const metadata = bytesField(1, Buffer.from(pick(random, ['sample', 'other'])));
  return Buffer.concat([bytesField(1, metadata), randomMessage(random, 2)]);
}

function randomMessage(random: Random, depth: number): Buffer {
  const fields: Buffer[] = [];
  for (let count = integerBelow(random, 5); count > 0; count--) {
    const number = chance(random, 0.9) ? 1 + integerBelow(random, 12) : pick(random, [0, 100, 2 ** 29 - 1]);
    const share = random.next();
    if (share < 0.2) fields.push(varint(number * 8), varint(integerBelow(random, 300)));
    else if (share < 0.25) fields.push(varint(number * 8), Buffer.alloc(11, 0xff));
    else if (share < 0.5) fields.push(bytesField(number, Buffer.from(hostileText(random))));
    else if (share < 0.9)
      fields.push(bytesField(number, depth === 0 ? Buffer.alloc(0) : randomMessage(random, depth - 1)));
    // Other wire types, and lengths beyond the end.
    else fields.push(varint(number * 8 + integerBelow(random, 8)), varint(integerBelow(random, 2 ** 20)));
  }
  return Buffer.concat(fields);
}

function bytesField(number: number, bytes: Buffer): Buffer {
  return Buffer.concat([varint(number * 8 + 2), varint(bytes.length), bytes]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  while (rest > 127) {
    bytes.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  return Buffer.from([...bytes, rest]);
}

function damagedBytes(random: Random, content: string | Uint8Array): Uint8Array {
  const bytes = Buffer.from(content as string);
  if (bytes.length === 0) return bytes;
  const at = integerBelow(random, bytes.length);
  const share = random.next();
  if (share < 0.3) return bytes.subarray(0, at);
  if (share < 0.5) return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + integerBelow(random, 8))]);
  if (share < 0.7) return Buffer.concat([bytes.subarray(0, at), Buffer.from(hostileText(random)), bytes.subarray(at)]);
  for (let count = 1 + integerBelow(random, 4); count > 0; count--)
    bytes[integerBelow(random, bytes.length)] = integerBelow(random, 256);
  return bytes;
}
