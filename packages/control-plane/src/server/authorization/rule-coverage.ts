import type { PolicyRule } from '@bowline/kubernetes';
import { quoteText } from '@bowline/machinery';
import { ANY, type CompiledRule, has, hasPath } from './policy-rule.ts';

/**
 * How many single rights are compared before a set of rules counts as too large. A role with hundreds of words in each
 * list expands to millions of rights.
 */
const MAX_RIGHTS = 20_000;

/**
 * missingRights returns the single rights that `wanted` contains and `held` does not; undefined if there are too many
 * to compare.
 */
export function missingRights(
  held: readonly CompiledRule[],
  wanted: readonly PolicyRule[],
): readonly PolicyRule[] | undefined {
  const missing: PolicyRule[] = [];
  let count = 0;
  for (const rule of wanted) {
    // Most rules are covered as a whole.
    if (held.some((each) => covers(each, rule))) continue;
    for (const right of rightsOf(rule)) {
      if (++count > MAX_RIGHTS) return undefined;
      if (!held.some((each) => covers(each, right))) missing.push(right);
    }
  }
  return missing;
}

/** describeRights formats rights as the API server does: verbs of the same objects combined, one line each, sorted. */
export function describeRights(rights: readonly PolicyRule[]): string {
  const verbs = new Map<string, string[]>();
  for (const right of rights) {
    const { apiGroups, resources, resourceNames, nonResourceURLs } = right;
    const text = [
      listText('APIGroups', apiGroups),
      listText('Resources', resources),
      listText('NonResourceURLs', nonResourceURLs),
      listText('ResourceNames', resourceNames),
    ].join('');
    // Rights on paths are not combined.
    const key = nonResourceURLs ? `${text}${right.verbs.join()}` : text;
    const known = verbs.get(key);
    if (known) known.push(...right.verbs);
    else verbs.set(key, [text, ...right.verbs]);
  }
  const lines = [...verbs.values()].map(([text, ...each]) => `{${text}Verbs:${wordsText(each)}}`);
  return lines.sort().join('\n');
}

/** wordsText formats words as the API server does: `["a" "b"]`. */
export function wordsText(words: readonly string[]): string {
  return `[${words.map(quoteText).join(' ')}]`;
}

function covers(
  held: CompiledRule,
  { verbs, apiGroups, resources, resourceNames = [], nonResourceURLs }: PolicyRule,
): boolean {
  if (!verbs.every((verb) => has(held.verbs, verb))) return false;
  if (nonResourceURLs && !nonResourceURLs.every((path) => hasPath(held, path))) return false;
  if (!resources && !apiGroups) return true;
  if (!(apiGroups ?? []).every((group) => has(held.groups, group))) return false;
  if (!(resources ?? []).every((resource) => coversResource(held.resources, resource))) return false;
  if (held.names === undefined) return true;
  return resourceNames.length > 0 && resourceNames.every((name) => held.names?.has(name));
}

function coversResource(held: ReadonlySet<string>, resource: string): boolean {
  if (has(held, resource)) return true;
  const slash = resource.indexOf('/');
  return slash >= 0 && held.has(`${ANY}${resource.slice(slash)}`);
}

function* rightsOf(rule: PolicyRule): Generator<PolicyRule> {
  const { verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  const names = resourceNames.length === 0 ? [undefined] : resourceNames;
  for (const group of apiGroups)
    for (const resource of resources)
      for (const verb of verbs)
        for (const name of names) {
          const right = { apiGroups: [group], resources: [resource], verbs: [verb] };
          yield name === undefined ? right : { ...right, resourceNames: [name] };
        }
  for (const path of nonResourceURLs) for (const verb of verbs) yield { nonResourceURLs: [path], verbs: [verb] };
}

function listText(name: string, words: readonly string[] | undefined): string {
  return words ? `${name}:${wordsText(words)}, ` : '';
}
