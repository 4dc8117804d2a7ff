import type { ObjectKey } from '@bowline/kubernetes';
import type { Informer } from '../cache/informer.ts';
import { BowlineError } from '../errors/bowline-error.ts';
import type { CacheReads, SourceListOptions, SourceRef, SourceTypes } from './sources.ts';

/** indexName keeps the indexes of two controllers apart that share an informer. */
export function indexName(controller: string, source: string, index: string): string {
  return `${controller}/${source}/${index}`;
}

/**
 * cacheReads reads the informers of a controller by the names of its sources; those that are left out are empty. Its functions
 * need no `this`.
 */
export function cacheReads(
  controller: string,
  informers: ReadonlyMap<string, Informer<unknown>>,
  leftOut: ReadonlySet<string> = new Set(),
): CacheReads<SourceTypes> {
  const nameOf = (source: SourceRef<string>): string => (typeof source === 'string' ? source : source.id);
  const find = (name: string): Informer<unknown> => {
    const informer = informers.get(name);
    if (informer) return informer;
    throw new BowlineError(
      'BOWLINE_SOURCE_UNDECLARED',
      `cannot read ${name} in the controller ${controller}: declare it with .owns or .watches, or read it with live`,
    );
  };
  return {
    get: (source: SourceRef<string>, key: ObjectKey) => find(nameOf(source)).get(key),
    list: (source: SourceRef<string>, options: SourceListOptions = {}) => {
      const name = nameOf(source);
      const { by, ...others } = options;
      if (by === undefined) return find(name).list(others);
      const [index, value] = Object.entries(by)[0] ?? [];
      return index === undefined || value === undefined
        ? find(name).list(others)
        : find(name).byIndex(indexName(controller, name, index), value);
    },
  };
}
