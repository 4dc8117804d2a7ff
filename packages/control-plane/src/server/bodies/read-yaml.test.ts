import { describe, expect, it } from 'vitest';
import { readYaml } from './read-yaml.ts';

const read = (text: string): unknown => readYaml(text).value;

describe('readYaml', () => {
  // How the real server interprets them.
  it.each([
    ['9007199254740993', 9007199254740993n],
    ['-9007199254740993', -9007199254740993n],
    ['9223372036854775807', 9223372036854775807n],
    ['0x1fffffffffffff1', 144115188075855857n],
    ['123456789012345678901234567890', 1.2345678901234568e29],
    ['0777', 511],
    ['0o777', 511],
    ['0b11', 3],
    ['1_000', 1000],
    ['+5', 5],
    ['.5', 0.5],
    ['1e3', 1000],
    ['1e400', '1e400'],
    ['08', 8],
    ['1:30', '1:30'],
    ['2001-01-01', '2001-01-01'],
    ['1.2.3', '1.2.3'],
    ['yes', true],
    ['Off', false],
    ['"yes"', 'yes'],
    ['nope', 'nope'],
    ['~', null],
    ['', null],
    ['!!str 5', '5'],
    ['!!int "5"', 5],
    ['!!float 5', 5],
    ['!!binary aGVsbG8=', 'hello'],
    ['!foo 5', '5'],
    ['!!set {a, b}', { a: null, b: null }],
    ['{1: x, 1.5: x, true: x}', { 1: 'x', 1.5: 'x', true: 'x' }],
    ['{__proto__: x}', JSON.parse('{"__proto__":"x"}')],
    ['|\n  a\n  b', 'a\nb\n'],
  ])('reads %j', (text, value) => {
    expect(read(`v: ${text}`)).toEqual({ v: value });
  });

  it.each([
    ['.inf', 'json: unsupported value: +Inf'],
    ['-.INF', 'json: unsupported value: -Inf'],
    ['.nan', 'json: unsupported value: NaN'],
    ['{~: x}', 'unsupported map key of type: %!s(<nil>), key: <nil>, value: "x"'],
    ['{[1]: x}', 'yaml: invalid map key'],
    ['!!int x', 'yaml: cannot decode !!str `x` as a !!int'],
    ['*none', "yaml: unknown anchor 'none' referenced"],
    ['&a [*a]', "yaml: anchor 'a' value contains itself"],
    ['{<<: 1}', 'yaml: map merge requires map or sequence of maps as the value'],
    ['[', 'yaml: Flow sequence'],
  ])('refuses %j', (text, problem) => {
    expect(() => read(`v: ${text}`)).toThrow(problem);
  });

  it('keeps the last of duplicate keys and reports its line', () => {
    const { value, duplicates } = readYaml('a: 1\nb: [{c: 1,\n  c: 2}]\na:\n  3\non: 1\nyes: 2\n');
    expect(value).toEqual({ a: 3, b: [{ c: 2 }], true: 2 });
    expect(duplicates).toEqual([
      'line 3: key "c" already set in map',
      'line 5: key "a" already set in map',
      'line 7: key true already set in map',
    ]);
  });

  it('reads only the first document', () => {
    expect(read('a: 1\n---\nb: 2\n')).toEqual({ a: 1 });
    expect(read('')).toBeNull();
  });

  it('merges maps into others', () => {
    expect(read('a: &a {x: 1, z: 2}\nb: &b {x: 3}\nv: {<<: [*a, *b], z: 4}')).toMatchObject({ v: { x: 1, z: 4 } });
  });

  it('expands aliases up to a limit', () => {
    expect(read('a: &a {x: 1}\nb: [*a, *a]')).toEqual({ a: { x: 1 }, b: [{ x: 1 }, { x: 1 }] });
    const aliases = Array.from(
      { length: 12 },
      (_, index) => `l${index + 1}: &l${index + 1} [${`*l${index}, `.repeat(9)}]`,
    );
    expect(() => read(['l0: &l0 ha', ...aliases].join('\n'))).toThrow('yaml: document contains excessive aliasing');
    const deep = Array.from({ length: 1_100 }, (_, index) => `l${index + 1}: &l${index + 1} [*l${index}]`);
    expect(() => read(['l0: &l0 ha', ...deep].join('\n'))).toThrow(/exceeded max depth of 1000|excessive aliasing/);
  });
});
