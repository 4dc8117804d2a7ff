import { expect, expectTypeOf, it } from 'vitest';
import type { ObjectOf, Resource } from './describe-resource.ts';
import type { KubernetesObject } from './object.ts';
import { apiVersionOf, parseApiVersion, resource } from './resource.ts';

it.each([
  ['v1', { group: '', version: 'v1' }],
  ['apps/v1', { group: 'apps', version: 'v1' }],
  ['sync.bowline.dev/v1alpha1', { group: 'sync.bowline.dev', version: 'v1alpha1' }],
])('%s converts to group and version and back', (apiVersion, parts) => {
  expect(parseApiVersion(apiVersion)).toEqual(parts);
  expect(apiVersionOf(parts)).toBe(apiVersion);
});

interface Widget extends KubernetesObject {
  readonly spec: { readonly size: number };
}

const names = { group: 'example.dev', version: 'v1', kind: 'Widget', plural: 'widgets', scope: 'Namespaced' } as const;

it('describes a kind by its names and the type of its objects, and derives its id', () => {
  const Widget = resource<Widget>()(names);
  expect(Widget).toEqual({ ...names, id: 'Widget.v1.example.dev' });
  expectTypeOf(Widget.id).toEqualTypeOf<'Widget.v1.example.dev'>();
  expectTypeOf<ObjectOf<typeof Widget>>().toEqualTypeOf<Widget>();
});

it('describes a kind without a type for its objects, or with the type of the variable', () => {
  const untyped = resource(names);
  expectTypeOf(untyped).toEqualTypeOf<Resource<KubernetesObject, 'Widget.v1.example.dev'>>();
  const typed: Resource<Widget, 'Widget.v1.example.dev'> = resource(names);
  expect(typed).toEqual(untyped);
  // @ts-expect-error the id follows from the names
  const wrong: Resource<Widget, 'Gadget.v1.example.dev'> = resource(names);
  expect(wrong).toEqual(untyped);
  // @ts-expect-error the type of the objects needs a separate call: this one would have no id
  expect(resource<Widget>(names)).toEqual(untyped);
});
