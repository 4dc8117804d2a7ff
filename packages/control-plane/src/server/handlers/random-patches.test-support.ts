import { resolveSchema, type Schema } from '@bowline/kubernetes/schemas';
import { integerBelow, type JsonObject, pick, type Random } from '@bowline/machinery';

/** The fields of the document and its metadata that any client may change. */
const FREE = ['metadata', 'spec', 'template', 'data', 'binaryData', 'labels', 'annotations', 'ownerReferences'];
/** Fields with arbitrary text. */
const FREE_TEXTS = ['image', 'value', 'mountPath'];
const SETS = ['bowline.dev/a', 'bowline.dev/b', 'bowline.dev/c', 'bowline.dev/d'];

/**
 * randomPatch returns a strategic merge patch of a document: most are valid changes, some use directives in a way that
 * no server accepts.
 */
export function randomPatch(random: Random, document: JsonObject, schema: Schema): JsonObject {
  return changeOfObject(random, document, schema, 'document');
}

const chance = (random: Random, share: number): boolean => random.next() < share;

function shuffled<T>(random: Random, list: readonly T[]): T[] {
  return list
    .map((each) => ({ each, place: random.next() }))
    .sort((a, b) => a.place - b.place)
    .map(({ each }) => each);
}

function changeOfObject(random: Random, value: JsonObject, schema: Schema, at: string): JsonObject {
  const { properties, additionalProperties } = resolveSchema(schema);
  const isFixed = at === 'document' || at === 'metadata';
  const patch: Record<string, unknown> = {};
  for (const [name, below] of Object.entries(value)) {
    const known = properties?.[name] ?? additionalProperties;
    if (!known || name === 'selector' || name === 'finalizers' || (isFixed && !FREE.includes(name))) continue;
    if (chance(random, isFixed ? 0.2 : 0.5)) continue;
    if (!isFixed && chance(random, 0.04)) patch[name] = null;
    else if (Array.isArray(below)) Object.assign(patch, changeOfList(random, name, below, known));
    else patch[name] = changeOf(random, below, known, name);
  }
  if (isText(additionalProperties) && chance(random, 0.4)) patch[`new${integerBelow(random, 3)}`] = 'new';
  if (properties?.finalizers) Object.assign(patch, changeOfSet(random, (value.finalizers ?? []) as readonly string[]));
  if (isFixed) return patch;
  if (chance(random, 0.02)) patch.$patch = pick(random, ['delete', 'replace', 'replace', 'merge', 'other']);
  if (chance(random, 0.08)) {
    const all = Object.keys({ ...value, ...patch }).filter((name) => !name.startsWith('$'));
    patch.$retainKeys = all.filter((name) => chance(random, name in patch ? 0.98 : 0.85));
  }
  return patch;
}

function isText(schema: Schema | undefined): boolean {
  return schema?.type === 'string' && schema.format === undefined;
}

function changeOf(random: Random, value: unknown, schema: Schema, name: string): unknown {
  switch (typeof value) {
    case 'string':
      return FREE_TEXTS.includes(name) && chance(random, 0.7) ? `${value}${integerBelow(random, 3)}` : value;
    case 'number':
      return value + integerBelow(random, 3);
    case 'boolean':
      return chance(random, 0.5);
    default:
      return changeOfObject(random, value as JsonObject, schema, name);
  }
}

/** changeOfSet returns a patch of a list of scalars that is merged. */
function changeOfSet(random: Random, current: readonly string[]): JsonObject {
  const patch: Record<string, unknown> = {};
  const added = shuffled(random, SETS).slice(0, integerBelow(random, 3));
  const deleted = SETS.filter((each) => !added.includes(each) && chance(random, 0.2));
  if (added.length > 0) patch.finalizers = added;
  if (deleted.length > 0) patch['$deleteFromPrimitiveList/finalizers'] = deleted;
  if (chance(random, 0.3)) patch['$setElementOrder/finalizers'] = orderOf(random, added, current);
  return patch;
}

function changeOfList(random: Random, name: string, current: readonly unknown[], schema: Schema): JsonObject {
  const { items = {}, patchMergeKey: key } = schema;
  if (key === undefined) return { [name]: current.filter(() => chance(random, 0.7)) };
  const elements = current as readonly JsonObject[];
  const changes: JsonObject[] = [];
  for (const element of elements) {
    const mergeKey = { [key]: element[key] };
    const share = random.next();
    if (share < 0.12) changes.push({ ...mergeKey, $patch: 'delete' });
    else if (share < 0.5) changes.push({ ...changeOfObject(random, element, items, name), ...mergeKey });
    else if (share < 0.65) changes.push({ ...element, [key]: anotherKey(random, element[key]) });
  }
  if (chance(random, 0.03)) changes.push({ $patch: 'replace' });
  if (chance(random, 0.02)) changes.push({ unknown: 'field' });
  const patch = { [name]: shuffled(random, changes) as unknown };
  if (!chance(random, 0.35)) return patch;
  const kept = (patch[name] as JsonObject[]).filter((each) => each.$patch !== 'delete').map((each) => each[key]);
  const order = orderOf(
    random,
    kept,
    elements.map((each) => each[key]),
  ).map((each) => (each === undefined ? {} : { [key]: each }));
  const named = { [`$setElementOrder/${name}`]: order };
  return chance(random, 0.2) ? named : { ...patch, ...named };
}

function anotherKey(random: Random, key: unknown): unknown {
  return typeof key === 'number' ? key + 100 + integerBelow(random, 3) : `${String(key)}-${integerBelow(random, 3)}`;
}

/** orderOf returns the added elements in order, with some of the others in between. */
function orderOf(random: Random, added: readonly unknown[], current: readonly unknown[]): unknown[] {
  const order = [...added];
  for (const each of shuffled(random, current)) {
    if (!order.includes(each) && chance(random, 0.7)) order.splice(integerBelow(random, order.length + 1), 0, each);
  }
  return chance(random, 0.05) ? shuffled(random, order) : order;
}
