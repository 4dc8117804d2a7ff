/** interleave merges several lists, each in its order, such that every section contains an even share of each. */
export function interleave<T>(lists: readonly (readonly T[])[]): readonly T[] {
  return lists
    .flatMap((list) => list.map((each, index) => ({ each, at: index / list.length })))
    .sort((a, b) => a.at - b.at)
    .map(({ each }) => each);
}
