import { describe, expect, it } from 'vitest';
import { s } from '../schema/builder/s.ts';
import { admissionVariables } from './admission-variables.ts';
import type { ExpressionAuthorizer } from './authorizer-values.ts';
import { compileExpression } from './compile-expression.ts';

describe('compileExpression', () => {
  it.each<[string, unknown]>([
    ["data.name + '!'", 'x!'],
    ['size(data)', 2],
    ['data.all(k, v, k != v)', true],
    ['cel.bind(n, data.name, n + n)', 'xx'],
    ['{"a": [1, 2.5 > 1.0 ? 2 : 3]}', { a: [1, 2] }],
    ["data[?'missing']", undefined],
    ["duration('90m')", '5400s'],
    ["timestamp('2026-01-01T00:00:00Z') + duration('1s')", '2026-01-01T00:00:01Z'],
    ['9007199254740993', '9007199254740993'],
    ["b'hi'", 'aGk='],
    ['type(1)', 'int'],
  ])('evaluates %s', (source, result) => {
    const expression = compileExpression(source, { variables: { data: 'map<string, string>' } });
    expect(expression.evaluate({ data: { name: 'x', other: 'y' } })).toEqual(result);
  });

  it('returns the type of the result', () => {
    expect(compileExpression('data.a', { variables: { data: 'map<string, list<int>>' } }).type).toBe('list(int)');
    expect(compileExpression('x', { variables: { x: 'dyn' } }).type).toBe('dyn');
  });

  it('accepts a schema as the type of a variable', () => {
    const site = s.object({ host: s.string(), port: s.integer().optional() }).json;
    const expression = compileExpression("site.host + ':' + string(site.?port.orValue(80))", { variables: { site } });
    expect(expression.evaluate({ site: { host: 'a' } })).toBe('a:80');
    expect(() => compileExpression('site.hots', { variables: { site } })).toThrow(
      expect.objectContaining({
        code: 'BOWLINE_CEL_INVALID',
        message:
          'the expression "site.hots" is not valid: undefined field \'hots\'; known fields are host, port (line 1, column 5)',
      }),
    );
  });

  it('reads whole numbers as integers unless doubles are declared', () => {
    expect(compileExpression('x + 1', { variables: { x: 'int' } }).evaluate({ x: 2 })).toBe(3);
    expect(compileExpression('x + 1.5', { variables: { x: 'double' } }).evaluate({ x: 2 })).toBe(3.5);
  });

  it.each<[string, Record<string, unknown>, RegExp]>([
    ['data.missing', { data: {} }, /no such key: missing/],
    ['data.a', {}, /no such attribute: data/],
    ['data.a', { data: { a: 1 } }, /expected a value of type string, not int/],
    ['1 / size(data)', { data: {} }, /division by zero/],
  ])('reports why %s fails', (source, values, message) => {
    const expression = compileExpression(source, { variables: { data: 'map<string, string>' } });
    expect(() => expression.evaluate(values)).toThrow(
      expect.objectContaining({ code: 'BOWLINE_CEL_EVALUATION', message: expect.stringMatching(message) }),
    );
  });

  it('stops an expression that takes too many steps, also inside of or and exists', () => {
    const list = Array.from({ length: 300 }, (_, index) => index);
    const nested = 'l.all(a, l.all(b, l.all(c, a + b + c >= 0)))';
    for (const source of [nested, `${nested} || true`, `[1].exists(x, ${nested} && x > 1)`]) {
      const expression = compileExpression(source, { variables: { l: 'list<int>' } });
      expect(() => expression.evaluate({ l: list })).toThrow(expect.objectContaining({ code: 'BOWLINE_CEL_BUDGET' }));
    }
  });

  it('stops an expression whose value grows without bound', () => {
    const doubled = Array.from({ length: 60 }, () => '.optMap(x, x + x)').join('');
    const expression = compileExpression(`optional.of(text)${doubled}.value()`, { variables: { text: 'string' } });
    expect(() => expression.evaluate({ text: 'abcdefgh' })).toThrow(
      expect.objectContaining({ code: 'BOWLINE_CEL_BUDGET' }),
    );
  });

  it.each([
    ["text.split('').join(text)", 'BOWLINE_CEL_EVALUATION'],
    ["text.replace('a', text)", 'BOWLINE_CEL_EVALUATION'],
    ["text.findAll('a(.*z)?').size()", 'BOWLINE_CEL_EVALUATION'],
    ["text.matches('(?i)[[:alpha:]]{1,900}[0-9]')", 'BOWLINE_CEL_BUDGET'],
  ])('stops %s on a long text before it takes much time or memory', (source, code) => {
    const expression = compileExpression(source, { variables: { text: 'string' } });
    expect(() => expression.evaluate({ text: 'a'.repeat(50_000) })).toThrow(expect.objectContaining({ code }));
  });

  // Each of these would take minutes if it compared everything again for every item.
  const numbers = Array.from({ length: 100_000 }, (_, index) => index);
  it.each<[string, unknown, unknown]>([
    ['v == v + []', numbers, true],
    ['lists.range(100000).isSorted()', null, true],
    ['string(v).trim().size()', `a${' '.repeat(500_000)}a`, 500_002],
    ['url(string(v)).getQuery().a.size()', `https://a/?${'a&'.repeat(200_000)}`, 200_000],
    ['string(v).format(lists.range(100000)).size()', '%d'.repeat(100_000), 488_890],
  ])('processes a large value in one pass: %s', (source, v, result) => {
    expect(compileExpression(source, { variables: { v: 'dyn' } }).evaluate({ v })).toEqual(result);
  });

  const objects = Array.from({ length: 20_000 }, (_, index) => ({ index, text: 'x'.repeat(20) }));
  it.each<[string, unknown, string]>([
    ['v.distinct().size() > 0', objects, 'BOWLINE_CEL_BUDGET'],
    ['sets.contains(v, v)', objects, 'BOWLINE_CEL_BUDGET'],
    ['v.all(x, v == v + [])', objects, 'BOWLINE_CEL_BUDGET'],
    [`optional.of(bytes(v))${'.optMap(x, x + x)'.repeat(60)}.hasValue()`, 'abc', 'BOWLINE_CEL_BUDGET'],
    ['double(v) > 0.0', `${'1'.repeat(500_000)}x`, 'BOWLINE_CEL_EVALUATION'],
    [`'${'%s'.repeat(500)}'.format([${'v,'.repeat(499)}v])`, 'x'.repeat(100_000), 'BOWLINE_CEL_EVALUATION'],
    ["('%.' + v + 'f').format([1.5])", '500', 'BOWLINE_CEL_EVALUATION'],
    ['url(v).getEscapedPath()', 'https://a/\ud800', 'BOWLINE_CEL_EVALUATION'],
    ['v == v', JSON.parse(`${'['.repeat(50_000)}${']'.repeat(50_000)}`), 'BOWLINE_CEL_EVALUATION'],
    ['{v: 1}.size()', [1], 'BOWLINE_CEL_EVALUATION'],
    ['v.sum() > 0', [1, null], 'BOWLINE_CEL_EVALUATION'],
    ["v.join('')", ['a', null], 'BOWLINE_CEL_EVALUATION'],
    ["(v == 1 ? null : timestamp('2026-01-01T00:00:00Z')).getFullYear()", 1, 'BOWLINE_CEL_EVALUATION'],
    ['timestamp(v)', '2026-01-01T00:00:00+99:00', 'BOWLINE_CEL_EVALUATION'],
  ])('stops %s before it takes much time or memory or crashes the process', (source, v, code) => {
    const expression = compileExpression(source, { variables: { v: 'dyn' } });
    expect(() => expression.evaluate({ v })).toThrow(expect.objectContaining({ code }));
  });

  it('visits every part of a nested expression once', () => {
    const nested = Array.from({ length: 60 }).reduce<string>((inner) => `'%s'.format([${inner}])`, "'x'");
    expect(compileExpression(nested).evaluate()).toBe('x');
  });

  it.each([
    ["timestamp('0050-03-01T00:00:00Z').getDayOfYear()", 59],
    ["timestamp('0050-03-01T00:00:00Z').getFullYear('Europe/Berlin')", 50],
    ["timestamp('2026-07-01T23:30:00Z').getHours('Europe/Berlin')", 1],
  ])('evaluates %s', (source, result) => {
    expect(compileExpression(source).evaluate()).toBe(result);
  });

  it('rejects a deeply nested or very long expression when it is parsed', () => {
    expect(() => compileExpression(`${'('.repeat(5_000)}1${')'.repeat(5_000)}`)).toThrow(
      /BOWLINE|depth|maxDepth|Exceeded/i,
    );
    expect(() => compileExpression(`${'!'.repeat(9_000)}true`)).toThrow(
      expect.objectContaining({ code: 'BOWLINE_CEL_INVALID' }),
    );
    expect(() => compileExpression(`[${'1,'.repeat(5_000)}1]`)).toThrow(
      expect.objectContaining({ code: 'BOWLINE_CEL_INVALID' }),
    );
  });

  it('can be evaluated repeatedly with different values', () => {
    const expression = compileExpression('l.filter(x, x > n).map(x, x * 2)', {
      variables: { l: 'list<int>', n: 'int' },
    });
    expect(expression.evaluate({ l: [1, 2, 3], n: 1 })).toEqual([4, 6]);
    expect(expression.evaluate({ l: [5], n: 9 })).toEqual([]);
  });

  it('does not treat inherited members as keys', () => {
    const expression = compileExpression("'constructor' in data || has(data.toString)", {
      variables: { data: 'map<string, string>' },
    });
    expect(expression.evaluate({ data: {} })).toBe(false);
  });

  describe('with an authorizer', () => {
    const calls: unknown[] = [];
    const authorizer: ExpressionAuthorizer = {
      authorize(attributes, account) {
        calls.push([attributes, account]);
        return { allowed: attributes.verb === 'get', reason: 'because' };
      },
      requestResource: { group: 'apps', resource: 'deployments', subresource: 'scale', namespace: 'a', name: 'b' },
    };
    const compileWithAuthorizer = (source: string) => compileExpression(source, { variables: admissionVariables });
    const pods = {
      isResource: true,
      verb: 'get',
      group: '',
      resource: 'pods',
      subresource: '',
      namespace: '',
      name: '',
    };

    it.each<[string, unknown, object, object?]>([
      ["authorizer.path('/ok').check('get').allowed()", true, { isResource: false, verb: 'get', path: '/ok' }],
      ["authorizer.group('').resource('pods').check('get').reason()", 'because', pods],
      [
        "authorizer.group('').resource('pods').subresource('log').namespace('n').name('p').fieldSelector('a=b').labelSelector('a').check('list').allowed()",
        false,
        { ...pods, verb: 'list', subresource: 'log', namespace: 'n', name: 'p' },
      ],
      [
        "authorizer.serviceAccount('ns', 'sa').group('').resource('pods').check('get').errored()",
        false,
        pods,
        { namespace: 'ns', name: 'sa' },
      ],
      ["authorizer.requestResource.check('get').error()", '', { ...pods, ...authorizer.requestResource }],
    ])('calls it: %s', (source, result, attributes, account) => {
      calls.length = 0;
      expect(compileWithAuthorizer(source).evaluate({ authorizer })).toBe(result);
      expect(calls).toEqual([[attributes, account]]);
    });

    it.each([
      ["authorizer.group('').check('get')", "found no matching overload for 'check' applied to 'groupCheck.(string)'"],
      ["authorizer.resource('pods')", "found no matching overload for 'resource'"],
      ['authorizer.other', "type 'authorizer' does not support field selection"],
      ["authorizer.serviceAccount('a', 'b').requestResource", "type 'authorizer' does not support field selection"],
    ])('rejects %s', (source, message) => {
      expect(() => compileWithAuthorizer(source)).toThrow(
        expect.objectContaining({ code: 'BOWLINE_CEL_INVALID', message: expect.stringContaining(message) }),
      );
    });

    it.each([
      ["authorizer.path(' ').check('get').allowed()", 'path must not be empty'],
      ["authorizer.group('').resource('').check('get').allowed()", 'resource must not be empty'],
      ["authorizer.serviceAccount('a', 'B!').path('/').check('get').allowed()", 'Invalid service account name'],
      ["authorizer.serviceAccount('a.b', 'c').path('/').check('get').allowed()", 'Invalid service account namespace'],
    ])('does not call it with invalid arguments: %s', (source, message) => {
      expect(() => compileWithAuthorizer(source).evaluate({ authorizer })).toThrow(
        expect.objectContaining({ code: 'BOWLINE_CEL_EVALUATION', message: expect.stringContaining(message) }),
      );
    });

    it('calls it at most twice', () => {
      const expression = compileWithAuthorizer("object.all(each, !authorizer.path('/').check(each).allowed())");
      const verbs = (count: number) => ({ authorizer, object: Array.from({ length: count }, () => 'put') });
      expect(expression.evaluate(verbs(2))).toBe(true);
      expect(() => expression.evaluate(verbs(3))).toThrow(expect.objectContaining({ code: 'BOWLINE_CEL_BUDGET' }));
    });
  });
});
