import { prune, readObject, type StructuralSchema } from '@bowline/machinery/schema';
import { canonicalJson } from '../json/canonical-json.ts';
import { objectOf, type Stored } from '../storage/stored.ts';

/** ViewOptions say in what shape objects are stored, and in what shape they are shown. */
export interface ViewOptions {
  /** The schema of the version that is stored. */
  readonly stored: StructuralSchema;
  /** The schema of the version that is asked for. */
  readonly shown: StructuralSchema;
  /** What was written after this revision has the shape already; Infinity where nothing can be known of it. */
  readonly shapedSince: number;
}

/**
 * storedView shows what is stored as the API server reads it: without what the schemas do not have, and with the defaults of the
 * stored version. A schema may have changed since an object was written; nobody writes it anew for that.
 */
export function storedView({ stored: own, shown, shapedSince }: ViewOptions): (stored: Stored) => Stored {
  const views = new WeakMap<Stored, Stored>();
  return (stored) => {
    if (stored.revision > shapedSince) return stored;
    let view = views.get(stored);
    if (!view) {
      const object = objectOf(stored);
      const filled = readObject(object, own);
      const shaped = shown === own ? filled : prune(filled, shown, { isResource: true });
      view = shaped === object ? stored : { ...stored, json: canonicalJson(shaped) };
      views.set(stored, view);
    }
    return view;
  };
}
