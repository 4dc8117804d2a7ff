import type { Registry } from '../registry/registry.ts';

/** remembered makes a value when it is asked for, and again when something is served that was not, or no longer. */
export function remembered<T>(registry: Pick<Registry, 'generation'>, make: () => T): () => T {
  let known: { readonly generation: number; readonly value: T } | undefined;
  return () => {
    const { generation } = registry;
    if (known?.generation !== generation) known = { generation, value: make() };
    return known.value;
  };
}
