import { describe, expect, it } from 'vitest';
import type { SecretContext } from './controller.ts';
import { canDecide } from './verdict.ts';

/** seeing returns a run for a Secret of the namespace `shop`, with these namespaces in the cache. */
function seeing(...namespaces: readonly string[]): Pick<SecretContext, 'key' | 'get' | 'list'> {
  const all = namespaces.map((name) => ({ metadata: { name } }));
  const cache = {
    key: 'shop/db',
    get: (_: unknown, { name }: { readonly name: string }) => all.find(({ metadata }) => metadata.name === name),
    list: () => all,
  };
  // Of the sources of a run, only namespaces are read here.
  return cache as unknown as Pick<SecretContext, 'key' | 'get' | 'list'>;
}

describe('the permissions of a namespace', () => {
  it.each([
    ['are known if the namespace is observed', seeing('default', 'shop'), true],
    ['are unknown before the namespace is observed, if others are', seeing('default'), false],
    ['cannot be known if no namespace is observed', seeing(), true],
  ])('%s', (_, context, isKnown) => {
    expect(canDecide(context)).toBe(isKnown);
  });
});
