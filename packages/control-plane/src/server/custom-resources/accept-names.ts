import type { CustomResourceDefinitionNames } from '@bowline/kubernetes';
import { isSameJson } from '@bowline/machinery';

/** NamesInUse holds the names that other definitions of the same group use. */
export interface NamesInUse {
  /** Plurals, singulars and short names: each must identify a single kind. */
  readonly resources: ReadonlySet<string>;
  /** Kinds and list kinds. */
  readonly kinds: ReadonlySet<string>;
}

/** NamesDecision holds the accepted names of a definition and the content of its condition NamesAccepted. */
export interface NamesDecision {
  readonly names: CustomResourceDefinitionNames;
  readonly isAccepted: boolean;
  readonly reason: string;
  readonly message: string;
}

/** namesInUse collects the names that definitions use. */
export function namesInUse(holders: Iterable<CustomResourceDefinitionNames>): NamesInUse {
  const resources = new Set<string>();
  const kinds = new Set<string>();
  for (const { plural, singular, shortNames = [], kind, listKind } of holders) {
    for (const name of [plural, singular, ...shortNames]) if (name) resources.add(name);
    for (const name of [kind, listKind]) if (name) kinds.add(name);
  }
  return { resources, kinds };
}

/**
 * acceptNames accepts every name of a definition that is free. A name that is taken keeps its previous value; the
 * decision reports the last conflict.
 */
export function acceptNames(
  wanted: CustomResourceDefinitionNames,
  held: CustomResourceDefinitionNames,
  { resources, kinds }: NamesInUse,
): NamesDecision {
  const names: { -readonly [Name in keyof CustomResourceDefinitionNames]: CustomResourceDefinitionNames[Name] } = {
    ...held,
  };
  let conflict: { readonly reason: string; readonly message: string } | undefined;
  const take = (
    member: 'plural' | 'singular' | 'kind' | 'listKind',
    reason: string,
    taken: ReadonlySet<string>,
  ): void => {
    const name = wanted[member] ?? '';
    if (name !== held[member] && taken.has(name))
      conflict = { reason, message: `${JSON.stringify(name)} is already in use` };
    else names[member] = name;
  };
  take('plural', 'PluralConflict', resources);
  take('singular', 'SingularConflict', resources);
  if (!isSameJson(wanted.shortNames ?? [], held.shortNames ?? [])) {
    const mine = new Set(held.shortNames);
    const used = (wanted.shortNames ?? []).filter((name) => !mine.has(name) && resources.has(name));
    const texts = used.map((name) => `${JSON.stringify(name)} is already in use`);
    if (used.length > 0)
      conflict = {
        reason: 'ShortNamesConflict',
        message: texts.length === 1 ? `${texts[0]}` : `[${texts.join(', ')}]`,
      };
    else names.shortNames = wanted.shortNames;
  }
  take('kind', 'KindConflict', kinds);
  take('listKind', 'ListKindConflict', kinds);
  names.categories = wanted.categories;
  if (conflict) return { names, isAccepted: false, ...conflict };
  return { names, isAccepted: true, reason: 'NoConflicts', message: 'no conflicts found' };
}
