import { authorizers } from './library/authorizers.ts';
import { conversions } from './library/conversions.ts';
import { formats } from './library/formats.ts';
import { lists } from './library/lists.ts';
import { network } from './library/network.ts';
import { operators } from './library/operators.ts';
import { optionals } from './library/optionals.ts';
import { quantities } from './library/quantities.ts';
import { strings } from './library/strings.ts';
import { times } from './library/times.ts';
import { urls } from './library/urls.ts';
import type { Overload } from './overloads.ts';

const ALL = [
  ...operators,
  ...conversions,
  ...strings,
  ...lists,
  ...times,
  ...optionals,
  ...quantities,
  ...network,
  ...urls,
  ...formats,
  ...authorizers,
];

const functions = group(ALL.filter(({ isMethod }) => !isMethod));
const methods = group(ALL.filter(({ isMethod }) => isMethod));

function group(overloads: readonly Overload[]): ReadonlyMap<string, readonly Overload[]> {
  const groups = new Map<string, Overload[]>();
  for (const each of overloads) groups.set(each.name, [...(groups.get(each.name) ?? []), each]);
  return groups;
}

/** functionOverloads returns the overloads of a function or operator; empty if it does not exist. */
export function functionOverloads(name: string): readonly Overload[] {
  return functions.get(name) ?? [];
}

/** methodOverloads returns the overloads of a method; empty if it does not exist. */
export function methodOverloads(name: string): readonly Overload[] {
  return methods.get(name) ?? [];
}
