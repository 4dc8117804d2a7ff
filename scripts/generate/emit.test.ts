import { describe, expect, it } from 'vitest';
import { compactDocument, emitSchemas } from './emit-schemas.ts';
import { emitEntry, emitTypes } from './emit-types.ts';
import { createModel, type Model } from './model.ts';
import { normalise } from './normalise.ts';
import type { InputDocument, SchemaNode } from './open-api.ts';
import { syntheticServer } from './synthetic.ts';

describe('emitTypes', () => {
  it('writes an interface with readonly properties and a resource of the same name', () => {
    expect(emitTypes(syntheticModel(), 'core-v1')).toBe(CORE_TYPES);
  });

  it('imports a definition of another module under another name when its own name is taken', () => {
    const text = emitTypes(syntheticModel(), 'events-v1');
    expect(text).toContain("import type { Event as CoreV1Event, Line } from './core-v1.ts';");
    expect(text).toContain('readonly before?: CoreV1Event | undefined;');
  });

  it.each<[string, SchemaNode, string]>([
    ['an inline object', { type: 'object', properties: {} }, 'the generator expects a $ref'],
    ['several schemas in allOf', { allOf: [{}, {}] }, 'combines 2 schemas with allOf'],
    ['a union it has no type for', { oneOf: [{ type: 'string' }] }, 'add it to WRITTEN_BY_HAND'],
    ['a dangling reference', { $ref: '#/components/schemas/io.k8s.api.core.v1.Gone' }, 'no io.k8s.api.core.v1.Gone'],
  ])('refuses %s', (_, property, message) => {
    expect(() => emitTypes(modelOf({ field: property }), 'core-v1')).toThrow(message);
  });
});

describe('emitEntry', () => {
  it('resolves a name that two modules define with an explicit export', () => {
    const text = emitEntry(syntheticModel());
    expect(text).toContain("export * from './core-v1.ts';\n");
    expect(text).toContain("export * from './events-v1.ts';\n");
    expect(text).toContain("export { Event } from './core-v1.ts';\n");
  });

  it('rejects a name that two modules define without an explicit choice', () => {
    const document = (group: string): InputDocument => ({
      info: '',
      paths: {},
      schemas: { [`io.k8s.api.${group}.v1.Mast`]: { type: 'object', properties: {} } },
    });
    const documents = new Map([
      ['apps-v1', document('apps')],
      ['batch-v1', document('batch')],
    ]);
    expect(() => emitEntry(createModel({ version: 'v1.35.8', documents }))).toThrow(
      'Mast exists in apps-v1 and batch-v1; choose in PLAIN_NAMES',
    );
  });
});

describe('compactDocument', () => {
  const { kinds, definitions } = compactDocument(syntheticModel(), 'core-v1');

  it('distinguishes kinds from other definitions', () => {
    expect(kinds).toEqual(['Event', 'Knot']);
    expect(Object.keys(definitions)).toEqual(['Event', 'Knot', 'Line']);
  });

  it('keeps the merge strategy of lists', () => {
    expect(definitions.Knot?.properties?.lines).toEqual({
      type: 'array',
      items: { ref: 'core-v1.Line' },
      listType: 'map',
      listMapKeys: ['name', 'side'],
      patchMergeKey: 'name',
      patchStrategy: ['merge', 'retainKeys'],
    });
  });

  it('keeps required, enums, scalar defaults and map types', () => {
    expect(definitions.Line).toEqual({
      type: 'object',
      properties: {
        name: { type: 'string', default: '' },
        side: { type: 'string', enum: ['port', 'starboard'], default: 'port' },
      },
      required: ['name'],
      mapType: 'atomic',
    });
  });

  it('writes times, quantities, int-or-string, raw JSON and maps inline', () => {
    expect(definitions.Knot?.properties).toMatchObject({
      tiedAt: { type: 'string', format: 'date-time' },
      load: { format: 'quantity' },
      slack: { intOrString: true },
      anything: { type: 'object', preserveUnknown: true },
      marks: { type: 'object', additionalProperties: { type: 'string' } },
    });
  });

  it.each<[string, SchemaNode, string]>([
    ['a list type', { type: 'array', items: {}, 'x-kubernetes-list-type': 'bag' }, 'unknown list type bag'],
    ['a patch strategy', { type: 'array', 'x-kubernetes-patch-strategy': 'merge,mix' }, 'unknown patch strategy mix'],
    ['a format', { type: 'string', format: 'runes' }, 'unknown format runes'],
    ['a default that is an object', { type: 'object', default: { a: 1 } }, 'default {"a":1} is neither'],
  ])('rejects %s that it does not know', (_, property, message) => {
    expect(() => compactDocument(modelOf({ field: property }), 'core-v1')).toThrow(message);
  });

  it('survives being written as a template literal', async () => {
    const odd = ['a `quote`, a $', '{hole} and a \\ backslash'].join('');
    const model = modelOf({ field: { type: 'string', default: odd } });
    const source = emitSchemas(model, 'core-v1');
    const module = (await import(`data:text/javascript,${encodeURIComponent(source)}`)) as { text: string };
    expect(JSON.parse(module.text)).toEqual(compactDocument(model, 'core-v1'));
  });
});

function syntheticModel(): Model {
  return createModel({ version: 'v1.35.8', documents: normalise(syntheticServer()) });
}

function modelOf(properties: Readonly<Record<string, SchemaNode>>): Model {
  const schemas = { 'io.k8s.api.core.v1.Mast': { type: 'object' as const, properties } };
  return createModel({ version: 'v1.35.8', documents: new Map([['core-v1', { info: '', paths: {}, schemas }]]) });
}

const CORE_TYPES = `// Generated from openapi/core-v1.json (Kubernetes v1.35.8) by \`npm run generate\`: do not edit.
import { describeResource, type Resource } from '../describe-resource.ts';
import type { ObjectMeta } from './meta-v1.ts';

export interface Event {
  readonly metadata: ObjectMeta;
  readonly reason?: string | undefined;
}

export const Event: Resource<Event, 'Event.v1.'> = /* @__PURE__ */ describeResource({ group: '', version: 'v1', kind: 'Event', plural: 'events', scope: 'Namespaced' });

export interface Knot {
  readonly anything?: unknown;
  readonly description?: string | undefined;
  readonly lines: readonly Line[];
  readonly load?: string | undefined;
  readonly marks?: { readonly [key: string]: string } | undefined;
  readonly sides?: readonly ('port' | 'starboard')[] | undefined;
  readonly slack?: number | string | undefined;
  readonly tiedAt?: string | undefined;
  readonly 'x-odd'?: number | undefined;
}

export const Knot: Resource<Knot, 'Knot.v1.'> = /* @__PURE__ */ describeResource({ group: '', version: 'v1', kind: 'Knot', plural: 'knots', scope: 'Cluster' });

export interface Line {
  readonly name: string;
  readonly side?: 'port' | 'starboard' | undefined;
}
`;
