import type { Informer } from '../cache/informer.ts';
import { BowlineError } from '../errors/bowline-error.ts';
import { describeKey } from '../writing/describe-object.ts';
import type { ContentTools } from './ensure-content.ts';

/**
 * contentLookup returns a lookup for `ensure` that reads from the informer with the view of the content. An object that
 * it does not hold may still exist, without our label: then its creation fails, and it is read.
 */
export function contentLookup(informers: Iterable<Informer<unknown>>): ContentTools['lookUp'] {
  const all = [...informers];
  return ({ view, resource }, key, labels) => {
    const informer = all.find((each) => each.view === view && each.resource.id === resource.id);
    if (!informer?.hasSynced || !informer.scope.covers(key)) return undefined;
    const known = informer.get(key);
    const { labelSelector, fieldSelector, matches } = informer.scope;
    if (known === undefined && !matches({ metadata: { ...key, labels } })) {
      // In every run it would be created, fail and be read.
      throw new BowlineError(
        'BOWLINE_OUTSIDE_SELECTOR',
        `cannot ensure ${describeKey(resource, key)}: .watches(${resource.kind}) with the view of its content selects ${labelSelector ?? fieldSelector}, which it does not match, so its changes would not be observed; add what the selector requires to the object, or widen the selector`,
      );
    }
    return { view: known };
  };
}
