import type { CustomResourceSubresourceScale } from '@bowline/kubernetes';
import type { Draft, Projection } from '../registry/api-resource.ts';
import { type ScaleParts, scaleProjection } from '../registry/kinds/apps/scale.ts';
import { internalError } from '../status/api-status.ts';

/** customScale projects an object to a Scale, with the replica counts at the paths that the definition specifies. */
export function customScale(paths: CustomResourceSubresourceScale): Projection {
  const { specReplicasPath } = paths;
  const projection = scaleProjection(scaleParts(paths));
  return {
    ...projection,
    // The replica count is validated with the object, whose messages contain the path of the field.
    strategy: { ...projection.strategy, validate: () => [] },
    checkRead(object) {
      if (valueAt(object, specReplicasPath) === undefined)
        throw internalError(`the spec replicas field ${JSON.stringify(specReplicasPath)} does not exist`);
    },
  };
}

function scaleParts(paths: CustomResourceSubresourceScale): ScaleParts {
  const { specReplicasPath, statusReplicasPath, labelSelectorPath } = paths;
  return {
    desiredReplicas: (object) => countOf(valueAt(object, specReplicasPath)),
    setDesiredReplicas: (object, replicas) => setAt(object, specReplicasPath, replicas),
    currentReplicas: (object) => countOf(valueAt(object, statusReplicasPath)),
    selector(object) {
      const selector = labelSelectorPath ? valueAt(object, labelSelectorPath) : undefined;
      return typeof selector === 'string' ? selector : '';
    },
  };
}

function countOf(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}

/** valueAt returns the value at a path of field names, such as `.spec.replicas`. */
export function valueAt(object: unknown, path: string): unknown {
  let value = object;
  for (const name of path.split('.').slice(1)) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[name];
  }
  return value;
}

function setAt(object: Draft, path: string, value: unknown): void {
  const names = path.split('.').slice(1);
  const last = names.pop();
  let place: Record<string, unknown> = object;
  for (const name of names) {
    const below = Object.hasOwn(place, name) ? place[name] : undefined;
    const next = typeof below === 'object' && below !== null ? (below as Record<string, unknown>) : {};
    define(place, name, next);
    place = next;
  }
  if (last !== undefined) define(place, last, value);
}

/** Assigning to `__proto__` would change the prototype of the object. */
function define(object: Record<string, unknown>, name: string, value: unknown): void {
  Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
}
