import { integerBelow, pick, type Random } from '@bowline/machinery';
import { WIDGETS } from '../../support/sample-objects.ts';
import { brokenSchema } from '../schema/broken-schema.ts';
import { randomSchema } from '../schema/random-schema.ts';
import { chance, glued, hostileText } from './hostile-texts.ts';
import { anyValue, changed } from './hostile-value.ts';

const CEL_TOKENS = [
  'self',
  'oldSelf',
  '.a',
  '.b',
  '.?a',
  '[0]',
  "['x']",
  '[?0]',
  ' == ',
  ' != ',
  ' < ',
  ' + ',
  ' - ',
  ' * ',
  ' / ',
  ' % ',
  ' && ',
  ' || ',
  '!',
  ' ? ',
  ' : ',
  ' in ',
  '(',
  ')',
  '[',
  ']',
  '{',
  '}',
  ',',
  '1',
  '1u',
  '1.5',
  '9223372036854775807',
  "'a'",
  '"b"',
  "b'c'",
  "r'\\d'",
  'true',
  'null',
  'has(self.a)',
  'size(self)',
  'self.all(x, ',
  'self.exists(x, ',
  'self.map(x, ',
  'x',
  'matches(',
  'quantity(',
  'duration(',
  'timestamp(',
  'int(',
  'dyn(',
  'type(',
  'cel.bind(y, self, ',
  'optional.of(',
  '__proto__',
  'constructor',
  '.toString()',
];

const RULES = [
  "self.matches('(a+)+$')",
  "self.a.matches('^(([a-z])+.)+[A-Z]([a-z])+$')",
  'self.all(x, self.all(y, self.all(z, x == y)))',
  `${'('.repeat(300)}self${')'.repeat(300)}`,
  `${'!'.repeat(2_000)}true`,
  `self.a${'.a'.repeat(500)} == 1`,
  Array.from({ length: 2_000 }, () => 'true').join(' && '),
  `'${'x'.repeat(50_000)}' == self`,
  '1/0 == 1',
  '-9223372036854775808 / -1 == 1',
  'self == oldSelf && oldSelf.hasValue()',
  '[1,2,3].map(x, [1,2,3].map(y, [1,2,3].map(z, x*y*z))).size() > 0',
  'dyn(self).constructor.constructor("x") == 1',
];

/** hostileRule returns an expression, mostly invalid CEL. */
export function hostileRule(random: Random): string {
  const share = random.next();
  if (share < 0.6) return glued(random, CEL_TOKENS, 12);
  return share < 0.9 ? pick(random, RULES) : hostileText(random);
}

const PATTERNS = [
  '(a+)+$',
  '^(a|a)*$',
  '(?=a)',
  '(?<n>a)',
  '\\1',
  'a{1,1000}{1,1000}',
  '[[:alpha:]]',
  '(?i)x',
  '[',
  '\\p{L}',
  'a**',
  `${'(a?)'.repeat(200)}`,
];
const COLUMN_PATHS = [
  '.spec',
  '.spec.a[*].b',
  ".spec['a']",
  '..a',
  '.spec[?(@.a=="b")]',
  '.spec[0:9999999999]',
  '{.spec}',
  '.',
  '',
  '.a[',
  '.spec.__proto__.x',
];

/** hostileDefinition returns the definition of a kind whose schema, rules, names or versions may be invalid. */
export function hostileDefinition(random: Random): unknown {
  const plural = `hostiles${integerBelow(random, 4)}`;
  const schema = dressed(random, pick(random, [randomSchema, brokenSchema])(random) as Record<string, unknown>);
  const [first] = WIDGETS.spec.versions;
  const definition = {
    ...WIDGETS,
    metadata: { name: `${plural}.proof.bowline.dev` },
    spec: {
      ...WIDGETS.spec,
      names: { plural, kind: `Hostile${plural.at(-1)}` },
      versions: [
        {
          ...first,
          selectableFields: chance(random, 0.2) ? [{ jsonPath: pick(random, COLUMN_PATHS) }] : undefined,
          additionalPrinterColumns: [
            { name: 'A', type: pick(random, ['string', 'date', 'integer', 'x']), jsonPath: pick(random, COLUMN_PATHS) },
          ],
          schema: { openAPIV3Schema: { type: 'object', properties: { spec: schema, status: { type: 'object' } } } },
        },
      ],
    },
  };
  return chance(random, 0.4) ? changed(random, definition) : definition;
}

function dressed(random: Random, schema: Record<string, unknown>): Record<string, unknown> {
  const more: Record<string, unknown> = { ...schema };
  if (chance(random, 0.6))
    more['x-kubernetes-validations'] = [
      { rule: hostileRule(random), ...(chance(random, 0.3) ? { messageExpression: hostileRule(random) } : {}) },
    ];
  if (chance(random, 0.3)) more.pattern = pick(random, PATTERNS);
  if (chance(random, 0.2)) more.default = anyValue(random);
  if (chance(random, 0.1)) more.enum = [anyValue(random), anyValue(random)];
  return more;
}
