import type { ObjectKey } from '@bowline/kubernetes';
import type { Informer } from '../cache/informer.ts';
import { BowlineError } from '../errors/bowline-error.ts';
import type { CacheReads, Source, SourceListOptions, SourceRef, SourceTypes } from './sources.ts';

/** indexName distinguishes the indexes of two controllers that share an informer. */
export function indexName(controller: string, source: string, index: string): string {
  return `${controller}/${source}/${index}`;
}

/** omittedSources returns the names of the sources that a manager limited to namespaces does not watch. */
export function omittedSources(sources: readonly Source[]): ReadonlySet<string> {
  return new Set(sources.filter(({ isOmitted }) => isOmitted).map(({ name }) => name));
}

/**
 * cacheReads reads the informers of a controller by the names of its sources; omitted sources are empty. Its
 * functions need no `this`.
 */
export function cacheReads(
  controller: string,
  informers: ReadonlyMap<string, Informer<unknown>>,
  omitted: ReadonlySet<string> = new Set(),
): CacheReads<SourceTypes> {
  const nameOf = (source: SourceRef<string>): string => (typeof source === 'string' ? source : source.id);
  /** Undefined for an omitted source. */
  const find = (name: string): Informer<unknown> | undefined => {
    const informer = informers.get(name);
    if (informer || omitted.has(name)) return informer;
    throw new BowlineError(
      'BOWLINE_SOURCE_UNDECLARED',
      `cannot read ${name} in the controller ${controller}: declare it with .owns or .watches, or read it with live`,
    );
  };
  return {
    get: (source: SourceRef<string>, key: ObjectKey) => find(nameOf(source))?.get(key),
    list: (source: SourceRef<string>, options: SourceListOptions = {}) => {
      const name = nameOf(source);
      const informer = find(name);
      if (!informer) return [];
      const { by, ...others } = options;
      if (by === undefined) return informer.list(others);
      const [index, value] = Object.entries(by)[0] ?? [];
      return index === undefined || value === undefined
        ? informer.list(others)
        : informer.byIndex(indexName(controller, name, index), value);
    },
    isServed: (source: SourceRef<string>) => find(nameOf(source))?.isServed === true,
  };
}
