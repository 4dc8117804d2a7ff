import { describe, expect, it } from 'vitest';
import { CelEnvironment } from './environment.ts';

const withObject = () => new CelEnvironment({ variables: { object: 'dyn' }, hasDefinitions: true });

it('compares variables with the same schema, and none with another schema', () => {
  const schema = (...names: readonly string[]) => ({
    type: 'object' as const,
    properties: Object.fromEntries(names.map((name) => [name, { type: 'object' as const, properties: {} }])),
  });
  const pod = schema('spec');
  const environment = new CelEnvironment({ variables: { object: pod, oldObject: pod, other: schema('spec', 'a') } });
  const expression = environment.compile('object == oldObject && object.spec == oldObject.spec');
  expect(environment.activate({ object: { spec: {} }, oldObject: { spec: {} } }).evaluate(expression)).toBe(true);
  expect(() => environment.compile('object == other')).toThrow('no matching overload');
});

describe('definitions', () => {
  it('are read by later expressions, with their type', () => {
    const environment = withObject();
    environment.define('size', 'int(object.size)');
    environment.define('twice', 'variables.size * 2');
    const expression = environment.compile('variables.twice > 4');
    expect(expression.type).toBe('bool');
    expect(environment.activate({ object: { size: '3' } }).evaluate(expression)).toBe(true);
    expect(() => environment.compile("variables.twice == 'x'")).toThrow("applied to '(int, string)'");
  });

  it('are evaluated once per activation, and not at all unless they are read', () => {
    const environment = new CelEnvironment({ variables: { check: 'authorizer' }, hasDefinitions: true });
    environment.define('allowed', "check.path('/').check('get').allowed()");
    const expressions = ['true', 'variables.allowed', '!variables.allowed || variables.allowed'].map((source) =>
      environment.compile(source),
    );
    let calls = 0;
    const requestResource = { group: '', resource: '', subresource: '', namespace: '', name: '' };
    const check = { authorize: () => ({ allowed: ++calls > 0, reason: '' }), requestResource };
    const activation = environment.activate({ check });
    const after = expressions.map((expression) => [activation.evaluate(expression), calls]);
    expect(after).toEqual([
      [true, 0],
      [true, 1],
      [true, 1],
    ]);
  });

  it('count against the budget of the expression that reads them first', () => {
    const environment = withObject();
    environment.define('all', 'object.all(x, x > 0)');
    const expression = environment.compile('variables.all');
    const activation = environment.activate({ object: Array.from({ length: 100 }, () => 1) });
    const [first, second] = [{ left: 1_000_000 }, { left: 1_000_000 }];
    activation.evaluate(expression, first);
    activation.evaluate(expression, second);
    expect(1_000_000 - first.left).toBeGreaterThan(100);
    expect(1_000_000 - second.left).toBeLessThan(10);
  });

  it('that fail make the expressions fail that read them', () => {
    const environment = withObject();
    environment.define('size', 'object.size');
    expect(() => environment.define('wrong', 'nothing')).toThrow("undeclared reference to 'nothing'");
    const activation = environment.activate({ object: {} });
    const evaluate = (source: string) => activation.evaluate(environment.compile(source));
    expect(() => evaluate('variables.size == 1')).toThrow(
      'composited variable "size" fails to evaluate: no such key: size',
    );
    expect(() => evaluate('variables.wrong == 1')).toThrow('composited variable "wrong" fails to compile');
    expect(evaluate('true || variables.size == 1')).toBe(true);
  });

  it('do not exist before they are defined, and not in an environment without definitions', () => {
    expect(() => withObject().compile('variables.later')).toThrow("undefined field 'later'");
    expect(() => new CelEnvironment().compile('variables.later')).toThrow("undeclared reference to 'variables'");
  });
});

it('excludes variables from an expression', () => {
  const environment = new CelEnvironment({ variables: { a: 'int', b: 'int' } });
  const expression = environment.compile('b + 1', { without: ['a'] });
  expect(environment.activate({ a: 1, b: 2 }).evaluate(expression)).toBe(3);
  expect(() => environment.compile('a', { without: ['a'] })).toThrow('known variables are b');
});

it('fails only in expressions that read a value of the wrong type', () => {
  const environment = new CelEnvironment({ variables: { a: 'int', b: 'int' } });
  const activation = environment.activate({ a: 'text', b: 2 });
  expect(activation.evaluate(environment.compile('b'))).toBe(2);
  expect(() => activation.evaluate(environment.compile('a'))).toThrow('expected a value of type int, not string');
});
