import { describe, expect, test } from 'vitest';
import { compileTemplate } from './template.ts';

const data = { host: 'db', port: '5432', 'app.yaml': 'a: 1', empty: '' };

describe('compileTemplate', () => {
  test.each<[template: string, text: string]>([
    ['', ''],
    ['no holes } { }} here', 'no holes } { }} here'],
    ['{{ data.host }}', 'db'],
    ['{{data.host}}:{{data.port}}\n', 'db:5432\n'],
    ["{{ data['app.yaml'] }}", 'a: 1'],
    ['{{ int(data.port) + 1 }}', '5433'],
    ['{{ data.host == "db" }} {{ 1.5 }}', 'true 1.5'],
    ['{{ has(data.user) ? data.user : "nobody" }}', 'nobody'],
    ['{{ "{{" }}{{ "}}" }}', '{{}}'],
    ["{{ '\\'}}' }}", "'}}"],
    ["{{ r'\\d' + '}}' }}", '\\d}}'],
    ['{{ """a"}}""" }}', 'a"}}'],
    ["{{ {'a': {'b': 'x'}}['a']['b'] }}", 'x'],
    ['{{ data.host // the host }}!', 'db!'],
    ["{{ data.host // don't }}!", 'db!'],
    ['{{ data.map(key, key).filter(key, key.startsWith("e")).join(",") }}', 'empty'],
    ['[{{ data.empty }}]', '[]'],
  ])('%j renders as %j', (template, text) => {
    expect(compileTemplate(template).render(data)).toBe(text);
  });

  test.each<[template: string, problem: RegExp]>([
    ['{{ data.host', /line 1: the placeholder is not closed/],
    ['a\nb {{ }}', /line 2: the placeholder is empty/],
    ['{{ "}} ', /not closed/],
    ['{{ data.host + 1 }}', /no matching overload/],
    ['{{ nothing }}', /undeclared reference to 'nothing'/],
    ['{{ data }}', /no matching overload/],
    ['{{ [data.host] }}', /no matching overload/],
    ["{{ data.host), string('x' }}", /not valid/],
    ['{{ data.host.matches("(a") }}', /not valid/],
  ])('rejects %j', (template, problem) => {
    expect(() => compileTemplate(template)).toThrow(problem);
  });

  test('rejects more placeholders than a list may have items', () => {
    expect(compileTemplate('{{ 1 }}'.repeat(1_000)).render({})).toBe('1'.repeat(1_000));
    expect(() => compileTemplate('{{ 1 }}'.repeat(1_001))).toThrow(/more than 1000 placeholders/);
  });

  test('rejects patterns that take long to compile, and returns the size of the others', () => {
    const matches = (pattern: string): string => `{{ data.host.matches('${pattern}') }}`;
    expect(compileTemplate(matches('^[a-z]{1,63}$')).patternSize).toBeLessThan(200);
    expect(() => compileTemplate(matches('a{1000}'.repeat(25)))).toThrow(/more than 20000 instructions in total/);
    expect(() => compileTemplate(matches('a{1000}').repeat(25))).toThrow(/more than 20000 instructions in total/);
  });

  test('fails for a missing key', () => {
    const template = compileTemplate('{{ data.user }}');
    expect(() => template.render(data)).toThrow(
      expect.objectContaining({ code: 'BOWLINE_CEL_EVALUATION', message: expect.stringContaining('user') as string }),
    );
    expect(() => compileTemplate('{{ data.constructor }}').render(data)).toThrow(/constructor/);
  });

  test.each([
    [
      'grows',
      `{{ ${Array.from({ length: 30 }, (_, i) => `cel.bind(v${i}, ${i === 0 ? 'data.big' : `v${i - 1} + v${i - 1}`}, `).join('')}v29${')'.repeat(30)} }}`,
    ],
    ['repeats a value', '{{ data.big }}'.repeat(900)],
    ['joins', "{{ data.big.split('').join(data.big) }}"],
    ['loops', "{{ data.big.split('').map(a, data.big.split('').map(b, a + b).join('')).join('') }}"],
    ['builds a pattern', "{{ 'x'.matches(data.big.replace('x', 'a{1000}')) }}"],
    ['searches', "{{ data.big.findAll('x(.*z)?').join('') }}"],
  ])('stops a template that %s', (_, template) => {
    const compiled = compileTemplate(template);
    expect(() => compiled.render({ big: 'x'.repeat(30_000) })).toThrow(
      expect.objectContaining({ code: expect.stringMatching(/^BOWLINE_CEL_(BUDGET|EVALUATION)$/) as string }),
    );
  });

  test('shares a step budget with other templates', () => {
    const budget = { left: 100_000 };
    const template = compileTemplate("{{ data.big.split('').map(each, each).size() }}");
    const big = { big: 'x'.repeat(10_000) };
    expect(template.render(big, budget)).toBe('10000');
    expect(budget.left).toBeLessThan(90_000);
    expect(() => {
      for (let times = 0; times < 10; times++) template.render(big, budget);
    }).toThrow(expect.objectContaining({ code: 'BOWLINE_CEL_BUDGET' }));
    expect(template.render(big)).toBe('10000');
  });
});
