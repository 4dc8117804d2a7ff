import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { labelSelector, validateLabelSelector } from './label-selector.ts';
import { labelKeyProblems, labelValueProblems } from './label-syntax.ts';
import { parseLabelSelector } from './parse-label-selector.ts';

describe('parseLabelSelector', () => {
  const labels = { app: 'web', tier: 'front', replicas: '12', empty: '', in: 'x', 'example.com/role': 'main' };
  it.each([
    ['', true],
    ['  ', true],
    ['app', true],
    ['missing', false],
    ['!missing', true],
    ['! app', false],
    ['app=web', true],
    ['app==web', true],
    [' app = web ', true],
    ['app=api', false],
    ['app!=api', true],
    ['app!=web', false],
    ['missing!=web', true],
    ['empty=', true],
    ['empty=,app', true],
    ['missing=', false],
    ['app in (api, web)', true],
    ['app in(api)', false],
    ['missing in (a)', false],
    ['app notin (api)', true],
    ['app notin (web,api)', false],
    ['missing notin (a)', true],
    ['empty in ()', true],
    ['empty in (a,)', true],
    ['app in (,web)', true],
    ['replicas>11', true],
    ['replicas>12', false],
    ['replicas<13', true],
    ['app>1', false],
    ['missing<1', false],
    ['in', true],
    ['in in (x)', true],
    ['app notin (in,notin)', true],
    ['example.com/role=main,app=web,!missing', true],
    ['app=web,tier=back', false],
  ])('%j on the sample labels is %s', (text, expected) => {
    expect(parseLabelSelector(text).matches(labels)).toBe(expected);
  });

  it('treats missing labels as an empty set', () => {
    expect(parseLabelSelector('!a').matches(undefined)).toBe(true);
    expect(parseLabelSelector('a').matches(undefined)).toBe(false);
  });

  it('does not match inherited members', () => {
    expect(parseLabelSelector('constructor').matches({})).toBe(false);
    expect(parseLabelSelector('toString').matches({})).toBe(false);
    expect(parseLabelSelector('constructor=a').matches({ constructor: 'a' })).toBe(true);
  });

  it.each([
    ['b,a', 'a,b'],
    ['a==1', 'a=1'],
    ['x in ( c,a , b, a )', 'x in (a,b,c)'],
    ['x notin ()', 'x notin ()'],
    ['! a , b!=2,b=1', '!a,b!=2,b=1'],
    ['b=1,b!=2', 'b!=2,b=1'],
    ['a>5,a<9', 'a<9,a>5'],
    ['a=', 'a='],
  ])('writes %j canonically as %j', (text, expected) => {
    expect(String(parseLabelSelector(text))).toBe(expected);
    expect(String(parseLabelSelector(expected))).toBe(expected);
  });

  const name =
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric " +
    "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is " +
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
  const value =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end " +
    "with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is " +
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
  it.each([
    ['=', "found '=', expected: !, identifier, or 'end of string'"],
    [',', "found ',', expected: !, identifier, or 'end of string'"],
    ['a,', "found '', expected: identifier after ','"],
    ['a,,b', "found ',', expected: identifier after ','"],
    ['!a=b', "found '=', expected: ',' or 'end of string'"],
    ['a=b c', "found 'c', expected: ',' or 'end of string'"],
    ['!', "unable to parse requirement: found '', expected: identifier"],
    ['a b', "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
    ['a in', "unable to parse requirement: found '' expected: '('"],
    ['a in b', "unable to parse requirement: found 'b' expected: '('"],
    ['a in (', "unable to parse requirement: found '', expected: ',', ')' or identifier"],
    ['a in (b', "unable to parse requirement: found '', expected: ',' or ')'"],
    ['a in (b c)', "unable to parse requirement: found 'c', expected: ',' or ')'"],
    ['a in (b,', "unable to parse requirement: found '', expected: ',', or identifier"],
    ['a===b', "unable to parse requirement: found '=', expected: identifier"],
    [
      'a>x',
      `unable to parse requirement: values[0]: Invalid value: "x": for 'Gt', 'Lt' operators, the value must be an integer`,
    ],
    [
      'a<9223372036854775808',
      `unable to parse requirement: values[0]: Invalid value: "9223372036854775808": for 'Gt', 'Lt' operators, the value must be an integer`,
    ],
    ['a_', `unable to parse requirement: <nil>: Invalid value: "a_": ${name}`],
    ['a=b_', `unable to parse requirement: values[0][a]: Invalid value: "b_": ${value}`],
    [
      'a in (c_,b_)',
      `unable to parse requirement: [values[0][a]: Invalid value: "b_": ${value}, values[1][a]: Invalid value: "c_": ${value}]`,
    ],
  ])('rejects %j with the error of the API server', (text, detail) => {
    expect(() => parseLabelSelector(text)).toThrow(
      expect.objectContaining({ code: 'BOWLINE_SELECTOR_INVALID', detail }),
    );
  });

  it('throws only its own error, whatever the text', () => {
    const token = fc.constantFrom(
      'a',
      'in',
      'notin',
      '=',
      '==',
      '!=',
      '!',
      '(',
      ')',
      ',',
      '<',
      '>',
      ' ',
      '9',
      'é',
      '\0',
    );
    fc.assert(
      fc.property(fc.array(token, { maxLength: 12 }), (tokens) => {
        try {
          const selector = parseLabelSelector(tokens.join(''));
          expect(String(parseLabelSelector(String(selector)))).toBe(String(selector));
        } catch (error) {
          expect(error).toMatchObject({ code: 'BOWLINE_SELECTOR_INVALID' });
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe('labelSelector', () => {
  it('accepts text and structured selectors', () => {
    const structured = labelSelector({
      matchLabels: { app: 'web' },
      matchExpressions: [
        { key: 'tier', operator: 'In', values: ['b', 'a'] },
        { key: 'env', operator: 'NotIn', values: ['prod'] },
        { key: 'old', operator: 'DoesNotExist' },
        { key: 'new', operator: 'Exists', values: [] },
      ],
    });
    expect(String(structured)).toBe('app=web,env notin (prod),new,!old,tier in (a,b)');
    expect(String(labelSelector(String(structured)))).toBe(String(structured));
    expect(structured.matches({ app: 'web', tier: 'a', new: '' })).toBe(true);
    expect(structured.matches({ app: 'web', tier: 'a', new: '', env: 'prod' })).toBe(false);
  });

  it('selects everything when empty', () => {
    expect(labelSelector({}).matches({ any: 'thing' })).toBe(true);
    expect(labelSelector({}).requirements).toEqual([]);
  });

  it('is not changed by a later change of its input', () => {
    const values = ['a'];
    const selector = labelSelector({ matchExpressions: [{ key: 'x', operator: 'In', values }] });
    values.push('b');
    expect(selector.matches({ x: 'b' })).toBe(false);
  });

  it('rejects an invalid selector and reports every problem', () => {
    const attempt = (): unknown =>
      labelSelector({
        matchExpressions: [
          { key: 'a', operator: 'In' },
          { key: 'a', operator: 'Is', values: [] },
        ],
      });
    expect(attempt).toThrow(
      expect.objectContaining({
        code: 'BOWLINE_SELECTOR_INVALID',
        message:
          "invalid label selector: [selector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn', " +
          'selector.matchExpressions[1].operator: Invalid value: "Is": not a valid selector operator]',
      }),
    );
  });
});

describe('validateLabelSelector', () => {
  it('returns field, reason and message as the API server does', () => {
    const problems = validateLabelSelector(
      {
        matchLabels: { 'a/b/c': 'ok' },
        matchExpressions: [{ key: 'a', operator: 'Exists', values: ['x'] }],
      },
      'spec.selector',
    );
    expect(problems).toEqual([
      {
        field: 'spec.selector.matchLabels',
        reason: 'FieldValueInvalid',
        message: expect.stringMatching(/^Invalid value: "a\/b\/c": a valid label key must consist of/),
      },
      {
        field: 'spec.selector.matchExpressions[0].values',
        reason: 'FieldValueForbidden',
        message: "Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
      },
    ]);
  });
});

describe('label syntax', () => {
  it.each(['a', 'A.b-c_9', 'example.com/x', `${'a'.repeat(63)}`, `${'a.'.repeat(126)}a/x`])(
    'accepts the key %s',
    (key) => {
      expect(labelKeyProblems(key)).toEqual([]);
    },
  );

  it.each([
    ['', ['name part must be non-empty', /^name part must consist/]],
    ['/a', ['prefix part must be non-empty']],
    ['a/', ['name part must be non-empty', /^name part must consist/]],
    ['UP/a', [/^prefix part a lowercase RFC 1123 subdomain must consist/]],
    ['a/b/c', [/^a valid label key must consist/]],
    ['-a', [/^name part must consist/]],
    ['a'.repeat(64), ['name part must be no more than 63 bytes']],
    [`${'a'.repeat(254)}/b`, ['prefix part must be no more than 253 characters']],
    [`${'é'.repeat(32)}`, ['name part must be no more than 63 bytes', /^name part must consist/]],
  ])('rejects the key %j', (key, expected) => {
    expect(labelKeyProblems(key)).toEqual(
      expected.map((text) => (typeof text === 'string' ? text : expect.stringMatching(text))),
    );
  });

  it('accepts an empty value and rejects long and invalid ones', () => {
    expect(labelValueProblems('')).toEqual([]);
    expect(labelValueProblems('a.b_c-d')).toEqual([]);
    expect(labelValueProblems('a'.repeat(64))).toEqual(['must be no more than 63 bytes']);
    expect(labelValueProblems('a b')).toEqual([expect.stringMatching(/^a valid label must be an empty string or/)]);
    expect(labelValueProblems('a\n')).toHaveLength(1);
  });
});
