import {
  ConfigMap,
  type KubernetesObject,
  keyOf,
  Namespace,
  type ObjectKey,
  type ObjectOf,
  type Resource,
  resource,
  Secret,
  type Stored,
} from '@bowline/kubernetes';
import { s } from '@bowline/machinery/schema';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { type MetadataObject, project, trigger } from '../cache/view.ts';
import { managedContent } from '../content/managed-content.ts';
import { defineOperator } from '../operator/operator.ts';
import { defineResource } from '../resource/define-resource.ts';
import { controller, keyed } from './builder.ts';
import type { Controller } from './controller.ts';
import { annotationsChanged, anyOf, generationChanged, statusChanged } from './predicates.ts';

const hashed = project((map: ConfigMap) => ({ metadata: map.metadata ?? {}, hash: JSON.stringify(map.data) }));

describe('controller', () => {
  it('types the object by the declared view', () => {
    controller(ConfigMap).reconcile(({ object }) => {
      expectTypeOf(object).toEqualTypeOf<Stored<ConfigMap>>();
    });
    controller(ConfigMap, { view: 'metadata' }).reconcile(({ object }) => {
      expectTypeOf(object).toEqualTypeOf<MetadataObject>();
      // @ts-expect-error the view keeps no data
      object.data;
    });
    controller(ConfigMap, { view: hashed }).reconcile(({ object, key }) => {
      expectTypeOf(object.hash).toEqualTypeOf<string>();
      expectTypeOf(key).toEqualTypeOf<ObjectKey>();
    });
    // @ts-expect-error a trigger keeps nothing to reconcile
    controller(ConfigMap, { view: trigger(() => true) });
  });

  it('types objects that it reads with the metadata that every stored object has', () => {
    controller(ConfigMap)
      .watches(Secret, { view: 'metadata', map: ({ metadata }) => [{ namespace: 'a', name: metadata.name }] })
      .reconcile(({ object, get, list }) => {
        expectTypeOf(object.metadata.name).toEqualTypeOf<string>();
        expectTypeOf(object.metadata.uid).toEqualTypeOf<string>();
        expectTypeOf(object.metadata.resourceVersion).toEqualTypeOf<string>();
        expectTypeOf(get(ConfigMap, { name: 'a' })?.metadata.uid).toEqualTypeOf<string | undefined>();
        expectTypeOf(list(Secret).map(({ metadata }) => metadata.uid)).toEqualTypeOf<string[]>();
      });
  });

  it('lets the context read only declared kinds, each typed by its view', () => {
    controller(ConfigMap)
      .owns(Secret, { view: 'metadata' })
      .watches(Namespace, { map: () => [] })
      .reconcile(({ get, list }) => {
        expectTypeOf(get(ConfigMap, { name: 'a' })).toEqualTypeOf<Stored<ConfigMap> | undefined>();
        expectTypeOf(get(Secret, { name: 'a' })).toEqualTypeOf<MetadataObject | undefined>();
        expectTypeOf(list(Namespace)).toEqualTypeOf<readonly Stored<Namespace>[]>();
      });
    controller(ConfigMap).reconcile(({ get, list }) => {
      // @ts-expect-error Secret is not declared
      get(Secret, { name: 'a' });
      // @ts-expect-error Namespace is not declared
      list(Namespace);
    });
  });

  it('requires a name for a second source of the same kind', () => {
    controller(ConfigMap, { labelSelector: 'copy-to' })
      .watches(ConfigMap, { as: 'copies', labelSelector: 'copied-from', view: hashed, map: () => [] })
      .reconcile(({ get, list }) => {
        expectTypeOf(get('copies', { name: 'a' })?.hash).toEqualTypeOf<string | undefined>();
        expectTypeOf(list(ConfigMap)).toEqualTypeOf<readonly Stored<ConfigMap>[]>();
        // @ts-expect-error no source has this name
        get('others', { name: 'a' });
      });
    expect(() =>
      controller(ConfigMap).watches(
        // @ts-expect-error the kind is declared already
        ConfigMap,
        { map: () => [] },
      ),
    ).toThrow(/declared twice; name one of them with "as"/);
    expect(() =>
      controller(ConfigMap).owns(Secret).owns(
        // @ts-expect-error the kind is declared already
        Secret,
      ),
    ).toThrow(expect.objectContaining({ code: 'BOWLINE_CONTROLLER_INVALID' }));
  });

  it('types map functions by their view and lets them read the kinds declared before them', () => {
    controller(ConfigMap, { indexes: { team: (map) => [map.metadata?.labels?.team ?? ''] } })
      .watches(Namespace, {
        view: 'metadata',
        map: (namespace, cache) => {
          expectTypeOf(namespace).toEqualTypeOf<MetadataObject>();
          // @ts-expect-error the index is called team
          cache.list(ConfigMap, { by: { owner: 'a' } });
          // @ts-expect-error Secret is not declared
          cache.list(Secret);
          return cache.list(ConfigMap, { by: { team: namespace.metadata.name ?? '' } }).map(keyOf);
        },
      })
      .reconcile(() => {});
    // @ts-expect-error a map function is needed
    controller(ConfigMap).watches(Namespace, { view: 'metadata' });
    controller(ConfigMap).watches(Namespace, {
      // @ts-expect-error keys of a kind have a name, and are not just strings
      map: () => ['a'],
    });
  });

  it('refuses to own through a view without owner references', () => {
    controller(ConfigMap).owns(Secret, { view: project((secret: Secret) => ({ metadata: secret.metadata ?? {} })) });
    // @ts-expect-error the projection drops the metadata
    controller(ConfigMap).owns(Secret, { view: project((secret: Secret) => ({ type: secret.type })) });
    // @ts-expect-error a trigger keeps no owner references
    controller(ConfigMap).owns(Secret, { view: trigger(() => true) });
  });

  it('accepts predicates that the view supports, after all sources', () => {
    const filtered = controller(Namespace).when(
      anyOf(generationChanged, annotationsChanged('requested-at')),
      statusChanged,
    );
    // @ts-expect-error sources come before the predicates
    filtered.owns;
    // @ts-expect-error predicates are named once
    filtered.when;
    const none = project((map: ConfigMap) => ({ size: Object.keys(map.data ?? {}).length }));
    // @ts-expect-error the projection drops the metadata
    controller(ConfigMap, { view: none }).when(generationChanged);
    const finished = filtered.reconcile(() => {});
    // @ts-expect-error the declaration is complete
    finished.watches;
  });

  it('carries the type of its dependencies', () => {
    const plain = controller(ConfigMap).reconcile(() => ({ requeueAfterMs: 5 }));
    expectTypeOf(plain).toExtend<Controller<unknown>>();
    const needy = controller(ConfigMap)
      .using<{ greet(): string }>()
      .reconcile(async ({ deps }) => {
        deps.greet();
      });
    expectTypeOf(needy).toExtend<Controller<{ greet(): string }>>();
    // @ts-expect-error its dependency is missing
    const wrong: Controller<{ other: string }> = needy;
    expect(wrong).toBe(needy);
  });

  it('does not change the builder it is derived from', () => {
    const base = controller(ConfigMap);
    const one = base.owns(Secret).reconcile(() => {});
    const other = base.reconcile(() => {});
    expect(one.sources.map((source) => source.role)).toEqual(['primary', 'owns']);
    expect(other.sources.map((source) => source.role)).toEqual(['primary']);
  });

  it('defaults to the name of its kind, one key at a time, a timeout of five minutes and a resync every ten hours', () => {
    const declared = controller(ConfigMap).reconcile(() => {});
    expect(declared).toMatchObject({
      name: 'configmap',
      work: { concurrency: 1, timeoutMs: 300_000, resyncMs: 36_000_000 },
    });
  });

  it.each([
    [{ name: 'Not A Label' }, /DNS label/],
    [{ concurrency: 0 }, /concurrency/],
    [{ concurrency: 1.5 }, /concurrency/],
    [{ timeoutMs: 0 }, /timeoutMs/],
    [{ resyncMs: Number.NaN }, /resyncMs/],
  ])('refuses %j', (options, text) => {
    expect(() => controller(ConfigMap, options)).toThrow(text);
  });
});

describe('names', () => {
  it('limits the writes of a kind, and not the watch of an owned one', () => {
    const { writes, sources } = controller(ConfigMap)
      .owns(Secret, { names: ['a'], remove: true })
      .ensures(Namespace, { names: ['b', 'c'] })
      .reconcile(() => {});
    expect(writes.map(({ verb, resource, names }) => [verb, resource.kind, names])).toEqual([
      ['apply', 'Secret', ['a']],
      ['ensure', 'Namespace', ['b', 'c']],
    ]);
    expect(sources[1]).toMatchObject({ role: 'owns', fieldSelector: undefined });
    const [applied] = keyed('all')
      .watches(ConfigMap, { map: () => [] })
      .applies(Secret, { names: ['d'] })
      .reconcile(() => {}).writes;
    expect(applied?.names).toEqual(['d']);
  });

  it('refuses an empty list, and names of objects that are only watched', () => {
    const invalid = expect.objectContaining({ code: 'BOWLINE_CONTROLLER_INVALID' });
    expect(() => controller(ConfigMap).owns(Secret, { names: [] })).toThrow(invalid);
    expect(() => controller(ConfigMap).applies(Secret, { names: [] })).toThrow(/the "names" of Secret are empty/);
    expect(() => controller(ConfigMap).ensures(Secret, { names: [] })).toThrow(invalid);
    expect(() => controller(ConfigMap).owns(Secret, { apply: false, names: ['a'] })).toThrow(/limits only writes/);
  });
});

describe('keyed', () => {
  it('accepts any string as a key and has no object', () => {
    keyed('bundle')
      .using<{ url: string }>()
      .watches(ConfigMap, { view: 'metadata', map: (map) => [map.metadata.name ?? ''] })
      .reconcile((context) => {
        expectTypeOf(context.key).toEqualTypeOf<string>();
        expectTypeOf(context.deps).toEqualTypeOf<{ url: string }>();
        // @ts-expect-error there is no object
        context.object;
        context.enqueue('other');
      });
  });

  it('needs at least one source and has neither owner nor primary', () => {
    // @ts-expect-error without a source no key would ever come
    keyed('bundle').reconcile;
    // @ts-expect-error there is no primary that could own
    keyed('bundle').owns;
    const declared = keyed('bundle').watches(Secret, { map: () => ['all'] });
    // @ts-expect-error there is no primary to narrow
    declared.when;
    expect(declared.reconcile(() => {}).sources.map((source) => source.role)).toEqual(['watches']);
  });

  it('sends events only about the kinds that it declares', () => {
    const subject = { apiVersion: 'v1', kind: 'Secret', metadata: { namespace: 'a', name: 'b', uid: 'c' } };
    const silent = keyed('silent').watches(Secret, { map: () => ['all'] });
    silent.reconcile(({ eventAbout }) => {
      // @ts-expect-error no kind is declared
      eventAbout(subject, 'Warning', 'Broken', 'it is broken');
    });
    const reporting = silent.reports(Secret, { namespaces: ['a'] }).reconcile(({ eventAbout }) => {
      eventAbout(subject, 'Warning', 'Broken', 'it is broken');
      // @ts-expect-error the type is one of two
      eventAbout(subject, 'Danger', 'Broken', 'it is broken');
    });
    expect(reporting.reports).toEqual([{ resource: Secret, namespaces: ['a'] }]);
  });
});

describe('triggers', () => {
  const none = async function* (): AsyncGenerator<never> {};

  it('yield keys of the controller, with access to its dependencies and declared sources', () => {
    const declared = controller(ConfigMap, { indexes: { team: () => [] } })
      .using<{ readonly bus: { teams(signal: AbortSignal): AsyncIterable<string> } }>()
      .triggeredBy('bus', async function* (signal, { bus }, cache) {
        for await (const team of bus.teams(signal)) yield* cache.list(ConfigMap, { by: { team } }).map(keyOf);
      });
    expect(declared.reconcile(() => {}).triggers.map(({ name }) => name)).toEqual(['bus']);
    controller(ConfigMap)
      // @ts-expect-error the keys of a kind's controller are those of objects
      .triggeredBy('bus', async function* () {
        yield 'a string';
      });
    controller(ConfigMap).triggeredBy('bus', async function* (_, __, cache) {
      // @ts-expect-error Secrets are not declared
      yield* cache.list(Secret).map(keyOf);
    });
    expect(
      keyed('k')
        .triggeredBy('bus', none)
        .reconcile(() => {}).sources,
    ).toEqual([]);
  });

  it('have unique names', () => {
    expect(() => keyed('k').triggeredBy('a', none).triggeredBy('a', none)).toThrow(/trigger a is declared twice/);
    expect(() => keyed('k').triggeredBy('A b', none)).toThrow(/must be a DNS label/);
  });
});

const Site = defineResource({
  group: 'example.dev',
  version: 'v1',
  kind: 'Site',
  scope: 'Namespaced',
  spec: s.object({ title: s.string().default('') }),
  status: s.object({ url: s.string().optional() }),
});

const annotations = { hash: 'example.dev/hash', time: 'example.dev/time', keys: 'example.dev/keys' };
const format = { maps: ['data'], managers: ['sites'], annotations, operatorAnnotations: {} } as const;
const secrets = managedContent({ resource: Secret, ...format });
const texts = managedContent({ resource: ConfigMap, ...format });

describe('writes of a controller', () => {
  it('are limited to declared kinds: other kinds do not compile', () => {
    controller(Site)
      .applies(ConfigMap)
      .ensures(Secret, { remove: true })
      .applies(Site)
      .reconcile(async ({ apply, ensure, remove, status, event }) => {
        const metadata = { namespace: 'a', name: 'b' };
        await apply(ConfigMap, { metadata, data: { a: 'b' } });
        await ensure(secrets, metadata, secrets.desired({ operatorAnnotations: {} }), { claim: () => 'ours' });
        await remove(Secret, metadata);
        // What has a default may be left out of what is written.
        const { object } = await apply(Site, { metadata, spec: {} });
        expectTypeOf(object.spec.title).toEqualTypeOf<string>();
        status.set({ url: 'x' });
        event('Normal', 'Done', 'it is done');
        // @ts-expect-error Secrets are ensured, not applied
        await apply(Secret, { metadata });
        // @ts-expect-error ConfigMaps are applied, not ensured
        await ensure(texts, metadata, texts.desired({ operatorAnnotations: {} }), { claim: () => 'ours' });
        // @ts-expect-error ConfigMaps are not removed
        await remove(ConfigMap, metadata);
        // @ts-expect-error that is no field of the status
        status.set({ uri: 'x' });
      });
    controller(ConfigMap).reconcile(({ status }) => {
      // @ts-expect-error the kind has no status of ours
      expect(() => status.condition('Ready', true, 'A', '')).toThrow();
    });
  });

  it('include a finalizer if and only if there is a cleanup', () => {
    const plain = controller(Site).reconcile(() => {});
    expect(plain.finalization).toBeUndefined();
    const cleaning = plain.cleanup(({ deletion }) => {
      expectTypeOf(deletion.mode).toEqualTypeOf<'background' | 'foreground' | 'orphan'>();
    });
    expect(cleaning.finalization?.finalizer).toBe('example.dev/finalizer');
    expect(plain.finalization).toBeUndefined();
    const named = controller(Site, { finalizer: 'example.dev/pages' }).reconcile(() => {});
    expect(named.cleanup(() => {}).finalization?.finalizer).toBe('example.dev/pages');
    expect(() => defineOperator({ name: 'site', domain: 'bowline.dev', controllers: [named] })).toThrow(
      /has no cleanup/,
    );
  });

  it.each([
    ['a core kind', () => controller(ConfigMap).reconcile(() => {}), /has no default finalizer/],
    ['a bad name', () => controller(Site, { finalizer: 'mine' }).reconcile(() => {}), /the form domain\/name/],
    [
      'a view without metadata',
      () => controller(Site, { view: project(({ spec }: ObjectOf<typeof Site>) => spec) }).reconcile(() => {}),
      /requires the view "full" or "metadata"/,
    ],
  ])('refuses a cleanup of %s', (_, declare, text) => {
    expect(() => declare().cleanup(() => {})).toThrow(text);
  });

  it('are declared once per kind', () => {
    expect(() => controller(Site).applies(Secret).applies(Secret)).toThrow(/declares \.applies\(Secret\) twice/);
  });
});

interface Widget extends KubernetesObject {
  readonly spec: { readonly size: number };
}

const Widget = resource<Widget>()({
  group: 'example.dev',
  version: 'v1',
  kind: 'Widget',
  plural: 'widgets',
  scope: 'Namespaced',
});

const Gadget = resource<Widget>()({ ...Widget, kind: 'Gadget', plural: 'gadgets' });

describe('a kind defined with resource', () => {
  const metadata = { namespace: 'a', name: 'b' };
  const spec = { size: 1 };
  const format = {
    maps: [],
    managers: ['test'],
    annotations: { hash: 'h', time: 't', keys: 'k' },
    operatorAnnotations: {},
  } as const;
  const widgets = managedContent({ resource: Widget, ...format });
  const gadgets = managedContent({ resource: Gadget, ...format });

  it('is as distinct as a built-in one: undeclared kinds of the same shape do not compile', () => {
    controller(ConfigMap)
      .owns(Widget)
      .ensures(Widget)
      .reconcile(async ({ get, list, apply, ensure }) => {
        expectTypeOf(get(Widget, metadata)?.spec.size).toEqualTypeOf<number | undefined>();
        await apply(Widget, { metadata, spec });
        await ensure(widgets, metadata, widgets.desired({ operatorAnnotations: {} }), { claim: () => 'ours' });
        // @ts-expect-error Gadgets are not declared
        get(Gadget, metadata);
        // @ts-expect-error Gadgets are not declared
        list(Gadget);
        // @ts-expect-error Gadgets are not applied
        await apply(Gadget, { metadata, spec });
        // @ts-expect-error Gadgets are not ensured
        await ensure(gadgets, metadata, gadgets.desired({ operatorAnnotations: {} }), { claim: () => 'ours' });
        // @ts-expect-error Secrets are not declared
        list(Secret);
        // @ts-expect-error Secrets are not applied
        await apply(Secret, { metadata });
      });
  });

  it('cannot be declared through a type that may be any kind', () => {
    const any: Resource<Widget> = Widget;
    // @ts-expect-error it may be any kind
    controller(any);
    // @ts-expect-error it may be any kind
    controller(ConfigMap).owns(any);
    // @ts-expect-error it may be any kind
    controller(ConfigMap).watches(any, { map: () => [] });
    // @ts-expect-error it may be any kind
    controller(ConfigMap).applies(any);
    // @ts-expect-error it may be any kind
    controller(ConfigMap).ensures(any);
    // @ts-expect-error it may be any kind
    keyed('all').watches(any, { map: () => [] });
  });
});

describe('owned kinds', () => {
  const metadata = { namespace: 'a', name: 'b' };
  const written = (declared: Controller) =>
    declared.writes.map(({ verb, resource: { kind }, remove, namespaces }) => ({ verb, kind, remove, namespaces }));

  it('may be applied by default, and removed with remove: true', () => {
    const declared = controller(Site)
      .owns(ConfigMap, { namespaces: ['a'] })
      .owns(Secret, { remove: true })
      .reconcile(async ({ apply, remove }) => {
        await apply(ConfigMap, { metadata });
        await remove(Secret, metadata);
        // @ts-expect-error ConfigMaps are not removed
        await remove(ConfigMap, metadata);
      });
    expect(written(declared)).toEqual([
      { verb: 'apply', kind: 'ConfigMap', remove: false, namespaces: ['a'] },
      { verb: 'apply', kind: 'Secret', remove: true, namespaces: undefined },
    ]);
  });

  it('are only watched with apply: false', () => {
    const declared = controller(Site)
      .owns(Secret, { apply: false })
      .reconcile(async ({ apply, list }) => {
        expectTypeOf(list(Secret)).toEqualTypeOf<readonly Stored<Secret>[]>();
        // @ts-expect-error Secrets are not applied
        await apply(Secret, { metadata });
      });
    expect(written(declared)).toEqual([]);
    expect(() => controller(Site).owns(Secret, { apply: false, remove: true })).toThrow(/omit "apply: false"/);
  });

  it('are written as declared when they are also declared for writing', () => {
    const declared = controller(Site)
      .owns(ConfigMap, { remove: true })
      .applies(ConfigMap, { namespaces: ['a'] })
      .owns(Secret)
      .ensures(Secret, { namespaces: ['b'] })
      .reconcile(() => {});
    expect(written(declared)).toEqual([
      { verb: 'apply', kind: 'ConfigMap', remove: true, namespaces: ['a'] },
      { verb: 'ensure', kind: 'Secret', remove: false, namespaces: ['b'] },
    ]);
  });
});
