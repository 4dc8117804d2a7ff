import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { plainYaml } from './plain-yaml.ts';

describe('plainYaml', () => {
  it('parses fields with one word each, with their lines', () => {
    const text = 'provider: aws-secretsmanager\npath: /prod/db_1.2\nsecretName: db\n';
    expect(plainYaml(text)?.value).toEqual({ provider: 'aws-secretsmanager', path: '/prod/db_1.2', secretName: 'db' });
    expect([...(plainYaml(text)?.lines ?? [])]).toEqual([
      ['provider', 1],
      ['path', 2],
      ['secretName', 3],
    ]);
  });

  it('parses an ARN', () => {
    const arn = 'arn:aws:secretsmanager:eu-central-1:123456789012:secret:prod/db-AbCdEf';
    expect(plainYaml(`path: ${arn}`)?.value).toEqual({ path: arn });
  });

  it.each([
    '',
    '\n',
    'path: 12',
    'path: true',
    'path: Null',
    'null: a',
    'path: a b',
    'path: a # b',
    'path: "a"',
    'path: *a',
    'path: -a',
    'path: a:',
    'path:  a',
    ' path: a',
    'path: a ',
    'path: a\r\n',
    'path: a\n\nprovider: b',
    'path: a\npath: b',
    'path:\n  a',
    '--- a',
    '{"path":"a"}',
    'path: a\n  b',
  ])('leaves %j to the YAML library', (text) => {
    expect(plainYaml(text)).toBeUndefined();
  });

  it('never differs from the YAML library', () => {
    const words = fc.constantFrom(
      'a',
      'Z',
      '/',
      '0',
      '.',
      '-',
      '_',
      '@',
      '+',
      '=',
      'true',
      'null',
      'e',
      'x',
      'NaN',
      'inf',
      ':',
      ' ',
      '#',
    );
    const word = fc.array(words, { minLength: 1, maxLength: 6 }).map((parts) => parts.join(''));
    const line = fc
      .tuple(fc.constantFrom('a', 'b', 'c', 'null', 'y', 'No'), word)
      .map(([key, value]) => `${key}: ${value}`);
    const text = fc.array(line, { minLength: 1, maxLength: 4 }).map((lines) => lines.join('\n'));
    fc.assert(
      fc.property(text, fc.boolean(), (lines, isClosed) => {
        const whole = isClosed ? `${lines}\n` : lines;
        const plain = plainYaml(whole);
        if (plain) expect(parse(whole)).toEqual(plain.value);
      }),
      { numRuns: 2_000 },
    );
  });
});
