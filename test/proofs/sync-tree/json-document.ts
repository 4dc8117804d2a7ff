import { integerBelow, pick, type Random } from '@bowline/machinery';

/** Raw is the text of a value as it is written. */
export interface Raw {
  readonly raw: string;
}

/** Value is a value of a document: its text, members or items. */
export type Value = Raw | { readonly members: readonly Member[] } | { readonly items: readonly Raw[] };

/** Member is a member with the space around its parts. */
export interface Member {
  readonly name: string;
  /** The name as it is written, with escapes. */
  readonly rawName: string;
  readonly space: readonly [before: string, beforeColon: string, afterColon: string, after: string];
  readonly value: Value;
}

/** JsonDocument is a document that is built from its parts, so that the text of a changed one follows without parsing. */
export interface JsonDocument {
  readonly start: string;
  readonly root: Value;
  readonly end: string;
}

/** writeDocument returns the text of a document. */
export function writeDocument({ start, root, end }: JsonDocument): string {
  return `${start}${writeValue(root)}${end}`;
}

function writeValue(value: Value): string {
  if ('raw' in value) return value.raw;
  if ('items' in value) return `[${value.items.map(({ raw }) => raw).join(', ')}]`;
  const members = value.members.map(
    ({ rawName, space: [a, b, c, d], value: each }) => `${a}${rawName}${b}:${c}${writeValue(each)}${d}`,
  );
  return `{${members.join(',')}}`;
}

/** mapRaw returns the document with every text of a value changed. */
export function mapRaw(value: Value, change: (raw: string) => string): Value {
  if ('raw' in value) return { raw: change(value.raw) };
  if ('items' in value) return { items: value.items.map(({ raw }) => ({ raw: change(raw) })) };
  return { members: value.members.map((member) => ({ ...member, value: mapRaw(member.value, change) })) };
}

/** SetResult is a changed value. `missing` says whether the path did not exist and, if so, whether it can be created. */
export interface SetResult {
  readonly value: Value;
  readonly found: 'yes' | 'creatable' | 'no';
}

/** setValue changes the value at a path wherever it exists. */
export function setValue(value: Value, path: readonly (string | number)[], change: (old: Value) => Value): SetResult {
  const [part, ...rest] = path;
  if (part === undefined) return { value: change(value), found: 'yes' };
  const canCreate = path.every((each) => typeof each === 'string');
  if (typeof part === 'number') {
    const item = 'items' in value ? value.items[part] : undefined;
    if (!('items' in value) || item === undefined) return { value, found: 'no' };
    const set = setValue(item, rest, change);
    const items = value.items.map((each, index) => (index === part ? (set.value as Raw) : each));
    return { value: { items }, found: set.found };
  }
  if (!('members' in value)) return { value, found: 'no' };
  let found: SetResult['found'] | undefined;
  const members = value.members.map((member) => {
    if (member.name !== part) return member;
    const set = setValue(member.value, rest, change);
    if (found !== 'yes') found = set.found;
    return { ...member, value: set.value };
  });
  return { value: { members }, found: found ?? (canCreate ? 'creatable' : 'no') };
}

const NAMES = ['name', 'settings', 'list', 'title', 'enabled', 'größe', 'a"b'];
const SPACES = ['', ' ', '\n  ', '\r\n\t', '  '];
const SCALARS = [
  '1',
  '-2.5e+3',
  'true',
  'false',
  'null',
  '"text"',
  '"{{.GatewayName}}"',
  '"{{ .Vars.site }} {x}"',
  '"\\u0041\\n"',
  '"ü"',
  '"{{"',
];

/** randomDocument returns a random document. The name `systemName` occurs up to three times. */
export function randomDocument(random: Random): JsonDocument {
  const names = NAMES.filter(() => random.next() < 0.5);
  for (let count = integerBelow(random, 4) - 1; count > 0; count--)
    names.splice(integerBelow(random, names.length + 1), 0, 'systemName');
  const root: Value =
    random.next() < 0.04
      ? { items: [{ raw: '{"systemName": "inner"}' }] }
      : { members: names.map((name) => randomMember(random, name, 0)) };
  return {
    start: (random.next() < 0.1 ? '\ufeff' : '') + pick(random, ['', '', '\n']),
    root,
    end: pick(random, ['', '\n', '\r\n', '  \n\n']),
  };
}

function randomMember(random: Random, name: string, depth: number): Member {
  const space = (): string => pick(random, SPACES);
  const isEscaped = random.next() < 0.1;
  const first = name.charCodeAt(0).toString(16).padStart(4, '0');
  const rawName = isEscaped ? `"\\u${first}${JSON.stringify(name.slice(1)).slice(1)}` : JSON.stringify(name);
  return { name, rawName, space: [space(), space(), space(), space()], value: randomValue(random, name, depth) };
}

function randomValue(random: Random, name: string, depth: number): Value {
  const scalar = (): Raw => ({ raw: pick(random, SCALARS) });
  if (name === 'systemName' && random.next() < 0.8) return { raw: '"from-git"' };
  if (name === 'settings' && depth === 0 && random.next() < 0.8) {
    const names = ['port', 'host', 'systemName'].filter(() => random.next() < 0.6);
    return { members: names.map((each) => randomMember(random, each, 1)) };
  }
  if (name === 'list') return { items: Array.from({ length: integerBelow(random, 4) }, scalar) };
  return scalar();
}
