import { ConfigMap, type KubernetesObject, Namespace, type Pod, resource } from '@bowline/kubernetes';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { project } from '../cache/view.ts';
import type { LiveClient } from '../controller/live-client.ts';
import { BowlineError } from '../errors/bowline-error.ts';
import type { ReadClient } from './admission-request.ts';
import { admit, deny } from './admission-response.ts';
import { mutating, validating } from './declare.ts';
import type { ConfiguredBy, Webhook, WebhookOptions } from './webhook.ts';

const Ship = resource<KubernetesObject & { spec?: { name: string } }>()({
  group: 'sea.example.com',
  version: 'v1',
  kind: 'Ship',
  plural: 'ships',
  scope: 'Namespaced',
});

const usual: WebhookOptions<'CREATE', 'None'> = { name: 'gate', operations: ['CREATE'] };

describe('a declaration', () => {
  it('has safe defaults', () => {
    expect(validating(ConfigMap, usual).handle(() => admit())).toMatchObject({
      type: 'validating',
      failurePolicy: 'Ignore',
      sideEffects: 'None',
      timeoutSeconds: 10,
      reinvocationPolicy: 'Never',
      subresources: [],
      sources: [],
    });
  });

  it('may fail closed on kinds that are not built into Kubernetes', () => {
    expect(validating(Ship, { ...usual, failurePolicy: 'Fail' }).handle(() => admit()).failurePolicy).toBe('Fail');
  });

  it.each<[string, () => unknown, string]>([
    ['a name that is not a DNS label', () => validating(Ship, { ...usual, name: 'Gate' }), 'DNS label'],
    ['no operation', () => validating(Ship, { ...usual, operations: [] }), 'no operations'],
    ['an operation twice', () => validating(Ship, { ...usual, operations: ['CREATE', 'CREATE'] }), 'listed twice'],
    ['a timeout beyond the API server’s', () => validating(Ship, { ...usual, timeoutSeconds: 31 }), 'from 1 to 30'],
    ['a timeout of half a second', () => validating(Ship, { ...usual, timeoutSeconds: 0.5 }), 'from 1 to 30'],
    ['Fail on a core kind', () => validating(ConfigMap, { ...usual, failurePolicy: 'Fail' }), 'whole cluster depend'],
    ['an invalid path', () => validating(Ship, { ...usual, path: 'x?y' }), 'start with a slash'],
    [
      'a selector that the API server rejects',
      () => validating(Ship, { ...usual, objectSelector: { matchLabels: { 'a b': 'c' } } }),
      'objectSelector.matchLabels: Invalid value: "a b"',
    ],
    [
      'a mutation of what is deleted',
      () => mutating(Ship, { name: 'gate', operations: ['DELETE' as 'CREATE'] }),
      'DELETE has no object',
    ],
    [
      'a source twice',
      () =>
        validating(Ship, usual)
          .reads(ConfigMap)
          // @ts-expect-error the kind is declared already
          .reads(ConfigMap),
      'ConfigMap.v1. is declared twice',
    ],
  ])('is rejected for %s', (_, declare, text) => {
    expect(declare).toThrow(BowlineError);
    expect(declare).toThrow(text);
    expect(declare).toThrow(expect.objectContaining({ code: 'BOWLINE_WEBHOOK_INVALID' }));
  });
});

it('types requests by operation, side effects, sources and needs', () => {
  const names = project((namespace: Namespace) => ({ labels: namespace.metadata?.labels }));
  const hook = validating(Ship, { name: 'gate', operations: ['CREATE', 'DELETE'] })
    .using<{ limit: number }>()
    .reads(Namespace, { view: names })
    .handle((request) => {
      if (request.operation === 'CREATE') {
        expectTypeOf(request.object.spec?.name).toEqualTypeOf<string | undefined>();
        expectTypeOf(request.oldObject).toEqualTypeOf<undefined>();
      } else {
        expectTypeOf(request.operation).toEqualTypeOf<'DELETE'>();
        expectTypeOf(request.object).toEqualTypeOf<undefined>();
      }
      expectTypeOf(request.live).toEqualTypeOf<ReadClient>();
      expectTypeOf(request.deps).toEqualTypeOf<{ limit: number }>();
      expectTypeOf(request.get(Namespace, { name: 'a' })?.labels).toEqualTypeOf<
        { readonly [key: string]: string } | undefined
      >();
      // @ts-expect-error Pods were not declared.
      request.list({} as typeof Pod);
      return deny('no');
    });
  expectTypeOf(hook).toEqualTypeOf<Webhook<{ limit: number }> & ConfiguredBy<unknown>>();
  mutating(Ship, { name: 'gate', operations: ['UPDATE'], sideEffects: 'NoneOnDryRun' }).handle((request) => {
    expectTypeOf(request.live).toEqualTypeOf<Omit<LiveClient, 'watch'>>();
    return { ...request.object, spec: { name: request.oldObject.spec?.name ?? '' } };
  });
  // @ts-expect-error A validating handler must not return undefined.
  validating(Ship, usual).handle(() => undefined);
  // @ts-expect-error A deletion has no object to mutate.
  expect(() => mutating(Ship, { name: 'gate', operations: ['DELETE'] })).toThrow();
});
