import { integerBelow, pick, type Random } from '@bowline/machinery';
import { applyDefaults, type StructuralSchema, validate } from '@bowline/machinery/schema';
import { randomRules } from './random-rules.ts';
import { validValue } from './random-value.ts';

type Draft = { -readonly [K in keyof StructuralSchema]: StructuralSchema[K] };

/** chance returns true with the given probability. */
export function chance(random: Random, probability: number): boolean {
  return random.next() < probability;
}

const FORMATS = [
  'date-time',
  'date',
  'duration',
  'ipv4',
  'ipv6',
  'cidr',
  'uri',
  'email',
  'hostname',
  'uuid',
  'byte',
  'mac',
  'k8s-short-name',
  'k8s-long-name',
  'password',
  'made-up',
];
const PATTERNS = ['^[a-z]+$', 'b', '^(foo|bar)?$', '[0-9]{2,}', '^\\w+@\\w+$', '^.{2,4}$', '^(?i)ABC'];

/** Place describes what is allowed at a position of a schema. */
interface Place {
  readonly depth: number;
  /** Whether rules may compare with the old value here. */
  readonly hasIdentity: boolean;
  /**
   * Whether a default is allowed here: the API server allows none inside additionalProperties of metadata, and we allow none in
   * items.
   */
  readonly mayDefault: boolean;
}

/**
 * randomSchema returns a random structural schema that the API server should accept. Everything is bounded, so that rules are
 * cheap.
 */
export function randomSchema(
  random: Random,
  place: Place = { depth: 3, hasIdentity: true, mayDefault: true },
): StructuralSchema {
  const draft: Draft = { ...kind(random, place) };
  if (chance(random, 0.1)) draft.nullable = true;
  if (chance(random, 0.15)) addBranches(random, draft);
  const rules = chance(random, 0.2) ? randomRules(random, draft, place.hasIdentity) : [];
  if (rules.length > 0) draft['x-kubernetes-validations'] = rules;
  if (place.mayDefault && chance(random, 0.2)) addDefault(random, draft);
  return draft;
}

function kind(random: Random, place: Place): StructuralSchema {
  const scalars = [text, text, integer, integer, number, () => ({ type: 'boolean' }) as const, intOrString];
  const composites = place.depth === 0 ? [] : [object, object, object, list, list, map];
  const rare = place.depth === 0 || !chance(random, 0.1) ? [] : [unknown, embedded];
  return pick(random, [...scalars, ...composites, ...rare])(random, place);
}

function text(random: Random): StructuralSchema {
  const draft: Draft = { type: 'string', maxLength: 30 };
  if (chance(random, 0.15))
    return { ...draft, enum: ['red', 'green', 'a"b', ''].slice(0, 1 + integerBelow(random, 4)) };
  const more = random.next();
  if (more < 0.3) draft.format = pick(random, FORMATS);
  else if (more < 0.5) draft.pattern = pick(random, PATTERNS);
  if (chance(random, 0.3)) draft.minLength = 1 + integerBelow(random, 3);
  if (chance(random, 0.3)) draft.maxLength = 3 + integerBelow(random, 5);
  return draft;
}

function integer(random: Random): StructuralSchema {
  const draft: Draft = { type: 'integer' };
  if (chance(random, 0.15)) return { ...draft, enum: [1, 2, 300] };
  if (chance(random, 0.3)) draft.format = pick(random, ['int32', 'int64']);
  addBounds(random, draft, false);
  return draft;
}

function number(random: Random): StructuralSchema {
  const draft: Draft = { type: 'number' };
  addBounds(random, draft, true);
  return draft;
}

function addBounds(random: Random, draft: Draft, hasFractions: boolean): void {
  const bound = (): number =>
    hasFractions && chance(random, 0.5) ? integerBelow(random, 40) / 4 : integerBelow(random, 20);
  if (chance(random, 0.4)) draft.minimum = bound() - 5;
  if (chance(random, 0.4)) draft.maximum = (draft.minimum ?? 0) + bound() + 1;
  if (draft.minimum !== undefined && chance(random, 0.3)) draft.exclusiveMinimum = true;
  if (draft.maximum !== undefined && chance(random, 0.3)) draft.exclusiveMaximum = true;
  if (chance(random, 0.15)) draft.multipleOf = hasFractions ? pick(random, [0.5, 0.25, 2, 1.5]) : pick(random, [2, 3]);
}

function intOrString(random: Random): StructuralSchema {
  const draft: Draft = { 'x-kubernetes-int-or-string': true, maxLength: 10 };
  if (chance(random, 0.5)) draft.anyOf = [{ type: 'integer' }, { type: 'string' }];
  if (chance(random, 0.3)) draft.pattern = '^[0-9]+%?$';
  if (chance(random, 0.3)) draft.maximum = 9;
  return draft;
}

const NAMES = ['a', 'b', 'size', 'x-dash', 'namespace', 'a.b', 'constructor', 'dir_name'];

function object(random: Random, place: Place): StructuralSchema {
  const properties: Record<string, StructuralSchema> = {};
  const inside = { ...place, depth: place.depth - 1 };
  for (let count = 1 + integerBelow(random, 4); count > 0; count--)
    properties[pick(random, NAMES)] = randomSchema(random, inside);
  const draft: Draft = { type: 'object', properties };
  const required = Object.keys(properties).filter(() => chance(random, 0.4));
  if (required.length > 0) draft.required = required;
  if (chance(random, 0.1)) draft['x-kubernetes-preserve-unknown-fields'] = true;
  if (chance(random, 0.1)) draft.minProperties = 1;
  if (chance(random, 0.1)) draft.maxProperties = 2;
  if (chance(random, 0.1)) draft['x-kubernetes-map-type'] = 'atomic';
  return draft;
}

function list(random: Random, place: Place): StructuralSchema {
  const draft: Draft = { type: 'array', maxItems: 5 };
  if (chance(random, 0.3)) draft.minItems = 1;
  if (chance(random, 0.3)) draft.maxItems = 2;
  const choice = random.next();
  const inside = { depth: place.depth - 1, hasIdentity: false, mayDefault: false };
  if (choice < 0.25) {
    draft.items = pick(random, [text, integer])(random);
    draft['x-kubernetes-list-type'] = 'set';
  } else if (choice < 0.5) {
    const keys = chance(random, 0.5) ? ['k'] : ['k', 'l'];
    const value = randomSchema(random, { ...inside, hasIdentity: place.hasIdentity });
    draft.items = {
      type: 'object',
      required: keys,
      properties: { k: { type: 'string', maxLength: 5 }, l: { type: 'integer' }, v: value },
    };
    draft['x-kubernetes-list-type'] = 'map';
    draft['x-kubernetes-list-map-keys'] = keys;
  } else {
    draft.items = randomSchema(random, inside);
    if (chance(random, 0.2)) draft['x-kubernetes-list-type'] = 'atomic';
  }
  return draft;
}

function map(random: Random, place: Place): StructuralSchema {
  const value = randomSchema(random, { ...place, depth: place.depth - 1, mayDefault: false });
  const draft: Draft = { type: 'object', maxProperties: 4, additionalProperties: value };
  if (chance(random, 0.2)) draft.minProperties = 1;
  return draft;
}

function unknown(): StructuralSchema {
  return { 'x-kubernetes-preserve-unknown-fields': true };
}

function embedded(): StructuralSchema {
  return { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true };
}

/** Branches restrict what the schema already describes. */
function addBranches(random: Random, draft: Draft): void {
  const branches = branchesFor(draft);
  if (branches.length < 2) return;
  const some = branches.filter(() => chance(random, 0.7));
  if (some.length === 0) return;
  const where = pick(random, ['oneOf', 'anyOf', 'allOf', 'not'] as const);
  if (where === 'anyOf' && draft.anyOf !== undefined) return;
  if (where === 'not') draft.not = some[0];
  else draft[where] = some;
}

function branchesFor(draft: Draft): NonNullable<StructuralSchema['oneOf']> {
  switch (draft.type) {
    case 'string':
      return [{ minLength: 2 }, { pattern: '^a' }, { enum: ['red', 'abc'] }, { maxLength: 4, not: { enum: ['no'] } }];
    case 'integer':
    case 'number':
      return [{ minimum: 3 }, { maximum: 5 }, { enum: [1, 7] }, { multipleOf: 2 }];
    case 'array':
      return [{ minItems: 2 }, { maxItems: 3 }];
    case 'object': {
      const names = Object.keys(draft.properties ?? {}).filter((name) => name !== 'metadata');
      return [
        ...names.map((name) => ({ required: [name] })),
        ...names.map((name) => ({ properties: { [name]: { not: { enum: ['x'] } } } })),
        { minProperties: 2 },
      ];
    }
    default:
      return [];
  }
}

/** A default is set only if it is valid by our own rules; whether the API server agrees is part of the proof. */
function addDefault(random: Random, draft: Draft): void {
  const value = validValue(random, draft);
  if (value === null || value === undefined) return;
  if (validate(value, draft).length === 0 && JSON.stringify(applyDefaults(value, draft)) === JSON.stringify(value))
    draft.default = value;
}
