import { describe, expect, it } from 'vitest';
import { normalise, type ServerDocument } from './normalise.ts';
import { syntheticServer } from './synthetic.ts';

describe('normalise', () => {
  it('keeps every definition once, in the module that its name belongs to', () => {
    const documents = normalise(syntheticServer());
    expect(Object.keys(documents.get('core-v1')?.schemas ?? {})).toEqual([
      'io.k8s.api.core.v1.Event',
      'io.k8s.api.core.v1.Knot',
      'io.k8s.api.core.v1.Line',
    ]);
    expect(Object.keys(documents.get('events-v1')?.schemas ?? {})).toEqual(['io.k8s.api.events.v1.Event']);
    expect(Object.keys(documents.get('meta-v1')?.schemas ?? {})).toContain(
      'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta',
    );
  });

  it('drops descriptions but not a property of that name', () => {
    const documents = normalise(syntheticServer());
    expect(documents.get('meta-v1')?.schemas['io.k8s.apimachinery.pkg.apis.meta.v1.Time']).toEqual({
      type: 'string',
      format: 'date-time',
    });
    expect(documents.get('core-v1')?.schemas['io.k8s.api.core.v1.Knot']?.properties).toHaveProperty('description');
  });

  it('keeps plural, scope, verbs and subresources of the paths', () => {
    const paths = normalise(syntheticServer()).get('core-v1')?.paths ?? {};
    expect(Object.keys(paths)).toEqual([
      '/api/v1/events',
      '/api/v1/knots',
      '/api/v1/knots/{name}',
      '/api/v1/knots/{name}/status',
      '/api/v1/namespaces/{namespace}/events',
      '/api/v1/namespaces/{namespace}/events/{name}',
    ]);
    expect(paths['/api/v1/knots']).toEqual({
      get: {
        'x-kubernetes-action': 'list',
        'x-kubernetes-group-version-kind': { group: '', version: 'v1', kind: 'Knot' },
      },
      post: {
        'x-kubernetes-action': 'post',
        'x-kubernetes-group-version-kind': { group: '', version: 'v1', kind: 'Knot' },
      },
    });
    expect(Object.keys(paths['/api/v1/namespaces/{namespace}/events'] ?? {})).toEqual(['get']);
  });

  it('produces the same text regardless of the server’s key order', () => {
    const reversed = reverseKeys(Object.fromEntries(syntheticServer())) as Record<string, ServerDocument>;
    const text = (server: ReadonlyMap<string, ServerDocument>) => JSON.stringify([...normalise(server)]);
    expect(text(new Map(Object.entries(reversed).reverse()))).toBe(text(syntheticServer()));
  });

  it('rejects two documents with different versions of a definition', () => {
    const server = syntheticServer();
    const events = server.get('events-v1');
    if (events === undefined) throw new Error('the synthetic server has no events');
    const schemas = { ...events.components?.schemas, 'io.k8s.api.core.v1.Line': { type: 'object' as const } };
    server.set('events-v1', { ...events, components: { schemas } });
    expect(() => normalise(server)).toThrow('events-v1 defines io.k8s.api.core.v1.Line differently');
  });

  it('rejects a definition of a group-version that is not covered', () => {
    const server = syntheticServer();
    server.set('core-v1', {
      info: { title: 'Kubernetes', version: '1.35' },
      paths: {},
      components: { schemas: { 'io.k8s.api.rigging.v1alpha1.Mast': {} } },
    });
    expect(() => normalise(server)).toThrow('io.k8s.api.rigging.v1alpha1.Mast, whose group-version is not covered');
  });

  it('rejects documents of different servers', () => {
    const server = syntheticServer();
    server.set('apps-v1', { info: { title: 'Kubernetes', version: '1.36' }, paths: {} });
    expect(() => normalise(server)).toThrow('Kubernetes 1.35, Kubernetes 1.36');
  });
});

function reverseKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reverseKeys);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, member]) => [key, reverseKeys(member)]),
  );
}
