import { pick, type Random } from '@bowline/machinery';
import { escapeFieldName } from '@bowline/machinery/cel';
import type { StructuralSchema, ValidationRule } from '@bowline/machinery/schema';
import { chance } from './random-schema.ts';

/** randomRules returns one or two rules that match a schema. Some cannot be evaluated for some values, intentionally. */
export function randomRules(random: Random, schema: StructuralSchema, hasIdentity: boolean): ValidationRule[] {
  const expressions = expressionsFor(schema);
  if (expressions.length === 0) return [];
  const rules = [dressed(random, pick(random, expressions))];
  if (hasIdentity && chance(random, 0.2)) rules.push({ rule: 'self == oldSelf', message: 'must not change' });
  return rules;
}

function dressed(random: Random, rule: string): ValidationRule {
  if (chance(random, 0.3)) return { rule };
  const message = 'does not please';
  if (chance(random, 0.2))
    return {
      rule,
      message,
      reason: pick(random, ['FieldValueForbidden', 'FieldValueRequired', 'FieldValueDuplicate', 'FieldValueInvalid']),
    };
  if (chance(random, 0.2)) return { rule, message, messageExpression: "'made ' + 'of two'" };
  return { rule, message };
}

function expressionsFor(schema: StructuralSchema): readonly string[] {
  if (schema['x-kubernetes-int-or-string'] === true)
    return [
      'type(self) == int ? self < 5 : self.size() < 4',
      'self == 3',
      "type(self) == string && self.endsWith('%')",
      'self > 3',
    ];
  switch (schema.type) {
    case 'string':
      return textRules(schema.format);
    case 'integer':
      return ['self > 3', 'self % 2 == 0', 'self * 2 < 9', '10 / self > 1', 'self in [1, 2, 7]', 'double(self) < 4.5'];
    case 'number':
      return ['self > 1.5', 'self < 3', 'int(self) == 2', 'self * 2.0 == 5.0'];
    case 'boolean':
      return ['self', '!self || self'];
    case 'array':
      return listRules(schema);
    case 'object':
      return objectRules(schema);
    default:
      return [];
  }
}

function textRules(format: string | undefined): readonly string[] {
  switch (format) {
    case 'duration':
      return ["self > duration('1m')", 'self.getSeconds() < 100'];
    case 'date':
    case 'date-time':
      return ["self > timestamp('2026-01-01T00:00:00Z')", 'self.getFullYear() == 2026'];
    case 'byte':
      return ['size(self) < 4', "self != b'hello'"];
    default:
      return [
        "self.startsWith('a')",
        'size(self) < 4',
        "self.matches('^[a-z]*$')",
        "self.contains('b') || self == ''",
        "self in ['red', 'abc']",
        "self.split('').size() > 1",
        "self.find('[0-9]+') == ''",
        "self.substring(1) != 'b'",
        'self.lowerAscii() == self',
      ];
  }
}

function listRules(schema: StructuralSchema): readonly string[] {
  const general = ['size(self) < 2', 'self.all(x, self.exists(y, x == y))'];
  switch (schema.items?.type) {
    case 'integer':
      return [
        ...general,
        'self.all(x, x > 1)',
        'self.sum() < 20',
        'self.isSorted()',
        'self[0] == 1',
        'self.all(i, x, i <= x)',
        'self.max() < 9',
      ];
    case 'string':
      return schema.items.format === undefined
        ? [...general, 'self.exists_one(x, size(x) == 1)', "self.filter(x, x != '').size() > 0", "'a' in self"]
        : general;
    default:
      return schema.items?.type === undefined ? [] : general;
  }
}

function objectRules(schema: StructuralSchema): readonly string[] {
  if (schema.additionalProperties !== undefined) {
    const inner = typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined;
    return inner?.type === undefined || inner.type === 'object'
      ? []
      : ['size(self) > 1', "self.all(k, k != 'a')", "'a' in self", "has(self.a) || !('b' in self)"];
  }
  const readable = Object.entries(schema.properties ?? {}).filter(([, field]) => field.type !== undefined);
  const rules = readable.flatMap(([name, field]) => {
    const escaped = `self.${escapeFieldName(name) ?? name}`;
    const rest =
      field.type === 'integer'
        ? [
            `${escaped} > 2`,
            `!has(${escaped}) || ${escaped} < 5`,
            `${escaped.replace('self.', 'self.?')}.orValue(1) == 1`,
          ]
        : [];
    return [`has(${escaped})`, ...rest];
  });
  return rules;
}
