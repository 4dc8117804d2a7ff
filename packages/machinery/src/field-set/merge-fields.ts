import { isObject, type JsonObject, member, setMember } from '../json/json.ts';
import type { FieldShape } from './field-shape.ts';
import { elementNames, isEmptyObject } from './list-elements.ts';

/**
 * mergeFields returns the result of applying an object to a live object: values that are owned as a whole are replaced,
 * all others are merged member by member and element by element. Neither object is changed; the result may share parts
 * with both.
 */
export function mergeFields(live: JsonObject, applied: JsonObject, shape: FieldShape): JsonObject {
  const merged: { [name: string]: unknown } = {};
  for (const name of Object.keys(live)) {
    if (live[name] === undefined) continue;
    setMember(merged, name, mergeValues(live[name], member(applied, name), shape.member(name)));
  }
  for (const name of Object.keys(applied)) {
    if (applied[name] !== undefined && member(live, name) === undefined) setMember(merged, name, applied[name]);
  }
  return merged;
}

function mergeValues(live: unknown, applied: unknown, shape: FieldShape | undefined): unknown {
  if (applied === undefined) return live;
  if (shape === undefined) return applied;
  if (isObject(live) && shape.mapType === 'granular' && !isEmptyObject(live)) {
    if (applied === null) return live;
    return isObject(applied) ? mergeFields(live, applied, shape) : applied;
  }
  if (Array.isArray(live) && live.length > 0) {
    const wanted: unknown = applied ?? [];
    const names = Array.isArray(wanted) ? elementNames(wanted, shape) : undefined;
    const liveNames = names && elementNames(live, shape);
    if (names && liveNames) return mergeLists(live, liveNames, wanted as unknown[], names, shape.element());
  }
  return applied;
}

/**
 * Applied elements keep the order in which they were applied; elements that only the live list has keep their position
 * between the shared elements.
 */
function mergeLists(
  live: readonly unknown[],
  liveNames: readonly string[],
  applied: readonly unknown[],
  names: readonly string[],
  shape: FieldShape | undefined,
): unknown[] {
  const wanted = new Set(names);
  const indexByName = indexesOf(liveNames);
  const shared = names.filter((name) => indexByName.has(name));
  const taken = new Set<string>();
  const merged: unknown[] = [];
  let next = 0;
  let liveIndex = 0;
  let appliedIndex = 0;
  const takeApplied = (name: string): void => {
    const index = indexByName.get(name);
    merged.push(mergeValues(index === undefined ? undefined : live[index], applied[appliedIndex], shape));
    taken.add(name);
    if (shared[next] === name) next++;
    appliedIndex++;
  };
  while (liveIndex < liveNames.length || appliedIndex < names.length) {
    const liveName = liveNames[liveIndex];
    const appliedName = names[appliedIndex];
    if (liveName !== undefined && !wanted.has(liveName)) {
      merged.push(live[liveIndex]);
      liveIndex++;
    } else if (liveName !== undefined && liveName === appliedName) {
      takeApplied(liveName);
      liveIndex++;
    } else if (
      liveName !== undefined &&
      appliedName !== undefined &&
      next < shared.length &&
      shared[next] !== liveName
    ) {
      // The element is taken later, or has already been taken.
      liveIndex++;
    } else {
      if (liveName !== undefined && taken.has(liveName)) liveIndex++;
      if (appliedName !== undefined) takeApplied(appliedName);
    }
  }
  return merged;
}

/**
 * Returns the index of each name; undefined for a name that occurs more than once, because it identifies no single
 * element.
 */
function indexesOf(names: readonly string[]): Map<string, number | undefined> {
  const indexByName = new Map<string, number | undefined>();
  names.forEach((name, index) => {
    indexByName.set(name, indexByName.has(name) ? undefined : index);
  });
  return indexByName;
}
