import type { Informer } from '../cache/informer.ts';
import type { ContentTools } from './ensure-content.ts';

/**
 * contentLookup reads what `ensure` needs to know from the informer that has the view of the content. An object that it does not have
 * may still exist, without our label: then its creation is refused, and it is read.
 */
export function contentLookup(informers: Iterable<Informer<unknown>>): ContentTools['lookUp'] {
  const all = [...informers];
  return ({ view, resource }, key) => {
    const informer = all.find((each) => each.view === view && each.resource.id === resource.id);
    if (!informer?.hasSynced || !informer.scope.covers(key)) return undefined;
    return { view: informer.get(key) };
  };
}
