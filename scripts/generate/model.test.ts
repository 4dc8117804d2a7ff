import { describe, expect, it } from 'vitest';
import { type ApiResource, createModel } from './model.ts';
import { parseDefinition } from './modules.ts';
import type { Operation } from './open-api.ts';

describe('createModel', () => {
  it.each([
    ['before', ['/api/v1/mooring', '/api/v1/namespaces/{namespace}/mooring']],
    ['after', ['/api/v1/namespaces/{namespace}/mooring', '/api/v1/mooring']],
  ])('detects a namespaced kind when the path across namespaces comes %s', (_, paths) => {
    expect(resourcesOf(paths, 'Mooring').get('Mooring')).toMatchObject({ plural: 'mooring', scope: 'Namespaced' });
  });

  it('detects that namespaces are cluster-scoped, although their path looks like a prefix', () => {
    const resources = resourcesOf(['/api/v1/namespaces', '/api/v1/namespaces/{name}'], 'Namespace');
    expect(resources.get('Namespace')).toMatchObject({ plural: 'namespaces', scope: 'Cluster' });
  });

  it('creates no resource for a kind that is only a subresource', () => {
    const paths = ['/api/v1/namespaces/{namespace}/pods/{name}/eviction', '/api/v1/namespaces/{name}/finalize'];
    expect(resourcesOf(paths, 'Eviction').size).toBe(0);
  });

  it('rejects a kind that is served under two plurals', () => {
    expect(() => resourcesOf(['/api/v1/knots', '/api/v1/ropes'], 'Knot')).toThrow(
      'serves kind Knot as knots and as ropes',
    );
  });
});

describe('parseDefinition', () => {
  it.each([
    ['io.k8s.api.core.v1.PodSpec', 'core-v1', 'PodSpec'],
    ['io.k8s.api.rbac.v1.Subject', 'rbac-v1', 'Subject'],
    ['io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIService', 'apiregistration-v1', 'APIService'],
    ['io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta', 'meta-v1', 'ObjectMeta'],
    ['io.k8s.apimachinery.pkg.util.intstr.IntOrString', 'meta-v1', 'IntOrString'],
  ])('places %s', (fullName, module, name) => {
    expect(parseDefinition(fullName)).toEqual({ module, name });
  });

  it('rejects a name that belongs to no group-version', () => {
    expect(() => parseDefinition('com.example.Mast')).toThrow(
      'definition com.example.Mast belongs to no group-version',
    );
  });
});

function resourcesOf(paths: readonly string[], kind: string): ReadonlyMap<string, ApiResource> {
  const operation: Operation = { 'x-kubernetes-group-version-kind': { group: '', version: 'v1', kind } };
  const document = {
    info: '',
    paths: Object.fromEntries(paths.map((path) => [path, { get: operation }])),
    schemas: {},
  };
  return createModel({ version: 'v1.35.8', documents: new Map([['core-v1', document]]) }).resources('core-v1');
}
