import type { ConfigMap, Stored } from '@bowline/kubernetes';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { type MetadataObject, project, projectMetadata, type TriggerObject, trigger, type ViewOf } from './view.ts';

type Kind = typeof ConfigMap;

describe('views', () => {
  it('determine the type of a read', () => {
    const names = project((object: ConfigMap) => ({ name: object.metadata?.name }));
    expectTypeOf<ViewOf<Kind, 'full'>>().toEqualTypeOf<Stored<ConfigMap>>();
    expectTypeOf<ViewOf<Kind, 'metadata'>>().toEqualTypeOf<MetadataObject>();
    expectTypeOf<ViewOf<Kind, typeof names>>().toEqualTypeOf<{ name: string | undefined }>();
    const labels = projectMetadata(({ metadata }) => metadata.labels?.colour);
    expectTypeOf<ViewOf<Kind, typeof labels>>().toEqualTypeOf<string>();
    expectTypeOf<ViewOf<Kind, ReturnType<typeof trigger>>>().toEqualTypeOf<TriggerObject>();
  });

  it('of the same function are the same view', () => {
    const data = (object: ConfigMap): unknown => object.data;
    const name = ({ metadata }: MetadataObject): unknown => metadata.name;
    const keep = (): boolean => true;
    expect(project(data)).toBe(project(data));
    expect(projectMetadata(name)).toBe(projectMetadata(name));
    expect(trigger(keep)).toBe(trigger(keep));
    expect(project((object: ConfigMap) => object.data)).not.toBe(project(data));
  });
});
