import { describe, expect, it } from 'vitest';
import { canJudge } from './verdict.ts';
import type { SecretContext } from './watching.ts';

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

describe('what a namespace permits', () => {
  it.each([
    ['is known when it is seen', seeing('default', 'shop'), true],
    ['is not known before it is seen, when others are', seeing('default'), false],
    ['cannot be known where no namespace is seen', seeing(), true],
  ])('%s', (_, context, isKnown) => {
    expect(canJudge(context)).toBe(isKnown);
  });
});
