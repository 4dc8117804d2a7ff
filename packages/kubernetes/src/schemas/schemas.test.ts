import { describe, expect, it } from 'vitest';
import * as entry from '../index.ts';
import { apiVersionOf } from '../resource.ts';
import { modules } from './generated/modules.ts';
import type { SchemaDocument } from './schema.ts';
import { resolveSchema, type Schema, schemaFor } from './schemas.ts';

describe('schemaFor', () => {
  it('has a schema for every kind with a resource in this package', () => {
    const resources = Object.values(entry).filter((value) => typeof value === 'object');
    const unknown = resources.filter((resource) => !schemaFor(apiVersionOf(resource), resource.kind));
    expect(resources.length).toBeGreaterThan(50);
    expect(unknown).toEqual([]);
  });

  it.each([
    ['v1', 'Gone'],
    ['gone/v1', 'ConfigMap'],
    ['apps/v1', 'ConfigMap'],
    ['v1', 'PodSpec'],
    ['v1', 'constructor'],
  ])('returns undefined for %s %s, which is not a kind', (apiVersion, kind) => {
    expect(schemaFor(apiVersion, kind)).toBeUndefined();
  });

  it('distinguishes kinds with the same name by their group', () => {
    expect(schemaFor('v1', 'Event')?.properties).toHaveProperty('involvedObject');
    expect(schemaFor('events.k8s.io/v1', 'Event')?.properties).toHaveProperty('regarding');
  });

  it('has schemas for kinds that belong to no API group', () => {
    expect(schemaFor('v1', 'Status')?.properties).toHaveProperty('code');
  });

  it('returns the same value every time', () => {
    expect(schemaFor('v1', 'Pod')).toBe(schemaFor('v1', 'Pod'));
  });
});

describe('schemas', () => {
  it('contain how the containers of a pod are merged', () => {
    const containers = field('v1', 'Pod', 'spec', 'containers');
    expect(containers).toMatchObject({
      type: 'array',
      listType: 'map',
      listMapKeys: ['name'],
      patchMergeKey: 'name',
      patchStrategy: ['merge'],
    });
    expect(resolveSchema(containers.items ?? {}).required).toEqual(['name']);
  });

  it('identify the ports of a service by port and protocol, and in a strategic merge patch by port only', () => {
    const ports = field('v1', 'Service', 'spec', 'ports');
    expect(ports.listMapKeys).toEqual(['port', 'protocol']);
    expect(ports.patchMergeKey).toBe('port');
    const protocol = resolveSchema(ports.items ?? {}).properties?.protocol;
    expect(protocol).toEqual({ type: 'string', enum: ['SCTP', 'TCP', 'UDP'], default: 'TCP' });
  });

  it('contain sets, atomic lists, atomic maps and patch strategies', () => {
    expect(field('v1', 'Pod', 'metadata', 'finalizers')).toMatchObject({ listType: 'set', patchStrategy: ['merge'] });
    expect(field('v1', 'PersistentVolumeClaim', 'spec', 'accessModes').listType).toBe('atomic');
    expect(field('v1', 'Service', 'spec', 'selector').mapType).toBe('atomic');
    expect(field('v1', 'Pod', 'spec', 'volumes').patchStrategy).toEqual(['merge', 'retainKeys']);
    expect(field('apps/v1', 'Deployment', 'spec', 'strategy').patchStrategy).toEqual(['retainKeys']);
  });

  it('contain required fields', () => {
    expect(field('apps/v1', 'Deployment', 'spec').required).toEqual(['selector', 'template']);
  });

  it('contain int-or-string, quantities, times and raw JSON', () => {
    expect(field('v1', 'Service', 'spec', 'ports', 'targetPort')).toEqual({ intOrString: true });
    expect(field('v1', 'Node', 'status', 'capacity').additionalProperties).toEqual({ format: 'quantity' });
    expect(field('v1', 'Pod', 'metadata', 'creationTimestamp')).toEqual({ type: 'string', format: 'date-time' });
    expect(field('apps/v1', 'ControllerRevision', 'data')).toEqual({ type: 'object', preserveUnknown: true });
  });

  it('resolve a recursive type', () => {
    const versions = field('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'spec', 'versions');
    const root = at(versions, 'schema', 'openAPIV3Schema');
    expect(at(root, 'not', 'not', 'not')).toBe(at(root, 'not'));
  });

  it('have no dangling references, and list keys that exist in their elements', () => {
    let references = 0;
    const visit = (schema: Schema): void => {
      if (schema.ref !== undefined) references += 1;
      const whole = resolveSchema(schema);
      const keys = [...(whole.listMapKeys ?? []), ...(whole.patchMergeKey ? [whole.patchMergeKey] : [])];
      if (keys.length > 0 && whole.items) {
        const element = resolveSchema(whole.items);
        for (const key of keys) expect(Object.keys(element.properties ?? {})).toContain(key);
      }
      if (schema.ref !== undefined) return;
      for (const child of Object.values(schema.properties ?? {})) visit(child);
      if (schema.items) visit(schema.items);
      if (schema.additionalProperties) visit(schema.additionalProperties);
    };
    for (const module of Object.values(modules)) {
      const { definitions } = JSON.parse(module?.text ?? '') as SchemaDocument;
      for (const definition of Object.values(definitions)) visit(definition);
    }
    expect(references).toBeGreaterThan(500);
  });
});

describe('resolveSchema', () => {
  it('overlays the definition with the properties of the field', () => {
    const strategy = field('apps/v1', 'Deployment', 'spec').properties?.strategy;
    expect(strategy).toEqual({ ref: 'apps-v1.DeploymentStrategy', patchStrategy: ['retainKeys'] });
    const whole = resolveSchema(strategy ?? {});
    expect(whole).toMatchObject({ type: 'object', patchStrategy: ['retainKeys'] });
    expect(whole.properties).toHaveProperty('rollingUpdate');
    expect(whole).not.toHaveProperty('ref');
  });

  it('rejects a dangling reference', () => {
    expect(() => resolveSchema({ ref: 'core-v1.Gone' })).toThrow('schema reference core-v1.Gone has no definition');
    expect(() => resolveSchema({ ref: 'gone' })).toThrow('schema reference gone has no definition');
  });
});

/** field follows a path from a kind to a field. Lists are entered without a path element. */
function field(apiVersion: string, kind: string, ...path: readonly string[]): Schema {
  const schema = schemaFor(apiVersion, kind);
  if (schema === undefined) throw new Error(`no schema for ${apiVersion} ${kind}`);
  return at(schema, ...path);
}

function at(start: Schema, ...path: readonly string[]): Schema {
  let schema = resolveSchema(start);
  for (const name of path) {
    const owner = schema.items ? resolveSchema(schema.items) : schema;
    const next = owner.properties?.[name];
    if (next === undefined) throw new Error(`no field ${name} on the way ${path.join('.')}`);
    schema = resolveSchema(next);
  }
  return schema;
}
