import type { ClusterRole, KubernetesObject, PolicyRule } from '@bowline/kubernetes';
import type { PathAttributes, ResourceAttributes } from './authorizer.ts';

/** ANY stands for everything in verbs, groups, resources and paths. */
export const ANY = '*';

/** CompiledRule is a rule that answers fast. */
export interface CompiledRule {
  readonly rule: PolicyRule;
  readonly verbs: ReadonlySet<string>;
  readonly groups: ReadonlySet<string>;
  /** As written: resources, `resource/part`, a star for all, or a star and the part for that part of all. */
  readonly resources: ReadonlySet<string>;
  /** Undefined where the rule is about objects of any name. */
  readonly names: ReadonlySet<string> | undefined;
  readonly paths: ReadonlySet<string>;
  /** What paths may begin with: those that were written with a star behind. */
  readonly prefixes: readonly string[];
}

/**
 * rulesIn are the rules of a Role or ClusterRole. Elements of lists that are null, which a client may send, are none: nobody
 * may depend on what they mean.
 */
export function rulesIn(object: Readonly<Record<string, unknown>> | KubernetesObject): readonly PolicyRule[] {
  // Other kinds are not in their collections, and other types were refused when it was decoded.
  return objectsIn((object as ClusterRole).rules).map((rule) => ({
    verbs: wordsIn(rule.verbs) ?? [],
    ...listed('apiGroups', rule),
    ...listed('resources', rule),
    ...listed('resourceNames', rule),
    ...listed('nonResourceURLs', rule),
  }));
}

/** objectsIn are the elements of a list that are there. */
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

/** compileRule prepares a rule. Fields that are left out are empty, and allow nothing. */
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

/** allowsResource says whether a rule allows something done to objects. */
export function allowsResource(rule: CompiledRule, attributes: ResourceAttributes): boolean {
  const { verb, group, resource, subresource, name } = attributes;
  // What is most often wrong first.
  return (
    has(rule.groups, group) &&
    has(rule.verbs, verb) &&
    hasResource(rule.resources, resource, subresource) &&
    (rule.names === undefined || rule.names.has(name))
  );
}

/** allowsPath says whether a rule allows something done to a path. */
export function allowsPath(rule: CompiledRule, { verb, path }: PathAttributes): boolean {
  return has(rule.verbs, verb) && hasPath(rule, path);
}

/** has says whether a set names a word, or everything. */
export function has(words: ReadonlySet<string>, word: string): boolean {
  return words.has(ANY) || words.has(word);
}

/** hasResource says whether a set names a resource, or a part of one. */
export function hasResource(words: ReadonlySet<string>, resource: string, subresource: string): boolean {
  if (words.has(ANY)) return true;
  if (subresource === '') return words.has(resource);
  return words.has(`${resource}/${subresource}`) || words.has(`${ANY}/${subresource}`);
}

/** hasPath says whether a rule names a path, or its beginning and a star. */
export function hasPath({ paths, prefixes }: CompiledRule, path: string): boolean {
  return paths.has(path) || prefixes.some((prefix) => path.startsWith(prefix));
}

function withoutStars(path: string): string {
  let end = path.length;
  while (path[end - 1] === ANY) end--;
  return path.slice(0, end);
}
