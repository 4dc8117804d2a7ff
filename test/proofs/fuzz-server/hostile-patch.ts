import { integerBelow, pick, type Random } from '@bowline/machinery';
import type { Body } from './hostile-body.ts';
import { chance, hostileText } from './hostile-texts.ts';
import { anyValue, changed } from './hostile-value.ts';

const POINTERS = [
  '',
  '/',
  '/metadata',
  '/metadata/labels/app',
  '/metadata/annotations/x',
  '/metadata/name',
  '/metadata/uid',
  '/metadata/resourceVersion',
  '/metadata/finalizers',
  '/metadata/finalizers/-',
  '/metadata/managedFields',
  '/metadata/managedFields/0',
  '/metadata/ownerReferences',
  '/data',
  '/data/a',
  '/spec',
  '/spec/replicas',
  '/spec/template/spec/containers/0/image',
  '/spec/template/spec/containers/-',
  '/spec/ports/0/port',
  '/spec/parts/1',
  '/spec/free',
  '/status',
  '/__proto__/polluted',
  '/constructor/prototype/polluted',
  '/metadata/__proto__',
  '/spec/containers/99999999999',
  '/spec/containers/01',
  '/~2',
  'no-slash',
];
const OPERATIONS = ['add', 'remove', 'replace', 'move', 'copy', 'test', 'x', '', '__proto__'];

/** hostilePatch returns a patch of one of the types, for an object similar to the sample. */
export function hostilePatch(random: Random, sample: unknown): Body {
  const object = asObject(sample);
  const share = random.next();
  if (share < 0.35) return { contentType: 'application/json-patch+json', content: text(operations(random)) };
  if (share < 0.6) return { contentType: 'application/merge-patch+json', content: text(document(random, object)) };
  if (share < 0.8)
    return { contentType: 'application/strategic-merge-patch+json', content: text(directives(random, object)) };
  const applied = chance(random, 0.9)
    ? { ...asObject(document(random, object)), apiVersion: object.apiVersion, kind: object.kind }
    : anyValue(random);
  return { contentType: 'application/apply-patch+yaml', content: text(applied) };
}

const text = (value: unknown): string => JSON.stringify(value) ?? '';

function asObject(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function operations(random: Random): unknown {
  if (chance(random, 0.03)) return anyValue(random);
  // Each copy doubles the content.
  if (chance(random, 0.02))
    return Array.from({ length: 40 }, () => ({ op: 'copy', from: '/metadata', path: '/metadata/annotations' }));
  if (chance(random, 0.01)) return Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/kind', value: 'x' }));
  const count = 1 + integerBelow(random, 3);
  return Array.from({ length: count }, () => {
    const operation = {
      op: pick(random, OPERATIONS),
      path: pointer(random),
      from: pointer(random),
      value: anyValue(random),
    };
    return chance(random, 0.1) ? changed(random, operation) : operation;
  });
}

function pointer(random: Random): string {
  return chance(random, 0.9) ? pick(random, POINTERS) : `/${hostileText(random)}/${hostileText(random)}`;
}

/** A changed part of the object. */
function document(random: Random, object: Record<string, unknown>): unknown {
  if (chance(random, 0.05)) return anyValue(random);
  const part = Object.fromEntries(Object.entries(object).filter(() => chance(random, 0.6)));
  return changed(random, part);
}

function directives(random: Random, object: Record<string, unknown>): unknown {
  const directive = pick(random, [
    { $patch: pick(random, ['delete', 'replace', 'merge', 'x']) },
    { metadata: { $patch: 'delete' } },
    { metadata: { '$deleteFromPrimitiveList/finalizers': [anyValue(random, 1)] } },
    { metadata: { '$setElementOrder/finalizers': anyValue(random, 1), finalizers: ['a/b'] } },
    { $retainKeys: anyValue(random, 1) },
    { spec: { template: { spec: { containers: [{ $patch: 'delete', name: 'main' }, anyValue(random, 1)] } } } },
    {
      spec: { template: { spec: { '$setElementOrder/containers': anyValue(random, 2), containers: [{ name: 'x' }] } } },
    },
    { spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } } },
    { spec: { ports: [{ $patch: 'replace' }, { port: 81 }] } },
    { '$setElementOrder/__proto__': [] },
  ]);
  return chance(random, 0.5) ? document(random, object) : { ...asObject(document(random, object)), ...directive };
}
