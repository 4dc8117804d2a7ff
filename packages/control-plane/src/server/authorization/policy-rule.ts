import type { ClusterRole, KubernetesObject, PolicyRule } from '@bowline/kubernetes';
import type { PathAttributes, ResourceAttributes } from './authorizer.ts';

/** ANY matches everything in verbs, groups, resources and paths. */
export const ANY = '*';

/** CompiledRule is a rule prepared for fast evaluation. */
export interface CompiledRule {
  readonly rule: PolicyRule;
  readonly verbs: ReadonlySet<string>;
  readonly groups: ReadonlySet<string>;
  /** As written: `resource`, `resource/subresource`, a star for all, or a star and the subresource for that part of all. */
  readonly resources: ReadonlySet<string>;
  /** Undefined if the rule applies to objects of any name. */
  readonly names: ReadonlySet<string> | undefined;
  readonly paths: ReadonlySet<string>;
  /** Prefixes of allowed paths: those that were written with a trailing `*`. */
  readonly prefixes: readonly string[];
}

/**
 * rulesIn returns the rules of a Role or ClusterRole. Null elements of lists, which a client may send, are ignored:
 * they have no meaning.
 */
export function rulesIn(object: Readonly<Record<string, unknown>> | KubernetesObject): readonly PolicyRule[] {
  // The collections hold no other kinds, and decoding rejected other types.
  return objectsIn((object as ClusterRole).rules).map((rule) => ({
    verbs: wordsIn(rule.verbs) ?? [],
    ...listed('apiGroups', rule),
    ...listed('resources', rule),
    ...listed('resourceNames', rule),
    ...listed('nonResourceURLs', rule),
  }));
}

/** objectsIn returns the elements of a list that are objects. */
export function objectsIn<T extends object>(list: readonly T[] | undefined): readonly T[] {
  return (list ?? []).filter((each) => typeof each === 'object' && each !== null);
}

function listed(field: Exclude<keyof PolicyRule, 'verbs'>, rule: PolicyRule): Partial<PolicyRule> {
  const words = wordsIn(rule[field]);
  return words ? { [field]: words } : {};
}

function wordsIn(list: readonly string[] | undefined): readonly string[] | undefined {
  return list?.filter((each) => typeof each === 'string');
}

/** compileRule prepares a rule. Omitted fields are empty, and allow nothing. */
export function compileRule(rule: PolicyRule): CompiledRule {
  const { resourceNames = [], nonResourceURLs = [] } = rule;
  return {
    rule,
    verbs: new Set(rule.verbs),
    groups: new Set(rule.apiGroups),
    resources: new Set(rule.resources),
    names: resourceNames.length === 0 ? undefined : new Set(resourceNames),
    paths: new Set(nonResourceURLs),
    prefixes: nonResourceURLs.filter((path) => path.endsWith(ANY)).map(withoutStars),
  };
}

/** allowsResource reports whether a rule allows an action on objects. */
export function allowsResource(rule: CompiledRule, attributes: ResourceAttributes): boolean {
  const { verb, group, resource, subresource, name } = attributes;
  // The checks that fail most often come first.
  return (
    has(rule.groups, group) &&
    has(rule.verbs, verb) &&
    hasResource(rule.resources, resource, subresource) &&
    (rule.names === undefined || rule.names.has(name))
  );
}

/** allowsPath reports whether a rule allows an action on a path. */
export function allowsPath(rule: CompiledRule, { verb, path }: PathAttributes): boolean {
  return has(rule.verbs, verb) && hasPath(rule, path);
}

/** has reports whether a set contains a word or `*`. */
export function has(words: ReadonlySet<string>, word: string): boolean {
  return words.has(ANY) || words.has(word);
}

/** hasResource reports whether a set contains a resource, or a subresource of it. */
export function hasResource(words: ReadonlySet<string>, resource: string, subresource: string): boolean {
  if (words.has(ANY)) return true;
  if (subresource === '') return words.has(resource);
  return words.has(`${resource}/${subresource}`) || words.has(`${ANY}/${subresource}`);
}

/** hasPath reports whether a rule contains a path, or a prefix of it followed by `*`. */
export function hasPath({ paths, prefixes }: CompiledRule, path: string): boolean {
  return paths.has(path) || prefixes.some((prefix) => path.startsWith(prefix));
}

function withoutStars(path: string): string {
  let end = path.length;
  while (path[end - 1] === ANY) end--;
  return path.slice(0, end);
}
