/** spread makes one list of several, each in its order, such that every stretch of it has its share of each. */
export function spread<T>(lists: readonly (readonly T[])[]): readonly T[] {
  return lists
    .flatMap((list) => list.map((each, index) => ({ each, at: index / list.length })))
    .sort((a, b) => a.at - b.at)
    .map(({ each }) => each);
}
