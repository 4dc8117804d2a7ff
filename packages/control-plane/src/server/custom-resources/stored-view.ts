import { canonicalJson } from '@bowline/machinery';
import { prune, readObject, type StructuralSchema } from '@bowline/machinery/schema';
import { objectOf, type Stored } from '../storage/stored.ts';

/** ViewOptions configures the shape in which objects are stored, and the shape in which they are shown. */
export interface ViewOptions {
  /** The schema of the storage version. */
  readonly stored: StructuralSchema;
  /** The schema of the requested version. */
  readonly shown: StructuralSchema;
  /** Objects written after this revision already have the shape; Infinity if this cannot be known. */
  readonly shapedSince: number;
}

/**
 * storedView shows stored objects as the API server reads them: without fields that the schemas lack, and with the
 * defaults of the stored version. A schema may have changed since an object was written; objects are not rewritten
 * because of that.
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
