/** Selector is a parsed label or field selector: parse once, match often. */
export interface Selector<Requirement> {
  /** The requirements, which must all be met, in canonical order. */
  readonly requirements: readonly Requirement[];
  /** matches reports whether a set of labels (or fields) meets every requirement. Undefined counts as an empty set. */
  matches(values: Readonly<Record<string, string | undefined>> | undefined): boolean;
  /**
   * toString returns the canonical text: it parses to the same selector, and does not depend on the spaces and order of
   * the original.
   */
  toString(): string;
}

/** SelectorParts holds the specifics of a kind of selector: how a requirement is checked and formatted. */
export interface SelectorParts<Requirement> {
  readonly requirements: readonly Requirement[];
  readonly check: (requirement: Requirement, values: Readonly<Record<string, string | undefined>>) => boolean;
  readonly write: (requirement: Requirement) => string;
}

const NONE: Readonly<Record<string, string>> = Object.freeze({});

/** selectorOf creates a selector that is the conjunction of its requirements. */
export function selectorOf<Requirement>(parts: SelectorParts<Requirement>): Selector<Requirement> {
  const { requirements, check, write } = parts;
  let text: string | undefined;
  return Object.freeze({
    requirements,
    matches(values: Readonly<Record<string, string | undefined>> | undefined) {
      // A loop, not `every`: this runs for each object of a list and should not allocate.
      for (const requirement of requirements) if (!check(requirement, values ?? NONE)) return false;
      return true;
    },
    toString() {
      text ??= requirements.map(write).join(',');
      return text;
    },
  });
}

/** ownValue returns an own label, not an inherited member, because `constructor` is a valid label key. */
export function ownValue(values: Readonly<Record<string, string | undefined>>, key: string): string | undefined {
  return Object.hasOwn(values, key) ? values[key] : undefined;
}

/** byText orders strings by code unit, as canonical forms require, regardless of the locale. */
export function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
