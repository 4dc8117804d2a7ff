import type { PolicyRule } from '@bowline/kubernetes';
import { describe, expect, it } from 'vitest';
import { compileRule } from './policy-rule.ts';
import { describeRights, missingRights } from './rule-coverage.ts';

const rule = (verbs: string, groups: string, resources: string, names?: string): PolicyRule => ({
  verbs: verbs.split(','),
  apiGroups: groups.split(',').map((group) => (group === 'core' ? '' : group)),
  resources: resources.split(','),
  ...(names === undefined ? {} : { resourceNames: names.split(',') }),
});
const paths = (verbs: string, urls: string): PolicyRule => ({
  verbs: verbs.split(','),
  nonResourceURLs: urls.split(','),
});

function missing(held: readonly PolicyRule[], ...wanted: PolicyRule[]): string | undefined {
  const rights = missingRights(held.map(compileRule), wanted);
  return rights && describeRights(rights);
}

describe('missingRights', () => {
  it.each<[string, PolicyRule[], PolicyRule[]]>([
    ['an equal rule', [rule('get', 'core', 'pods')], [rule('get', 'core', 'pods')]],
    ['a subset of the rights', [rule('get,list', 'core,apps', 'pods,secrets')], [rule('list', 'core', 'secrets')]],
    [
      'a rule covered by several rules together',
      [rule('get', 'core', 'pods'), rule('list', 'core', 'pods')],
      [rule('get,list', 'core', 'pods')],
    ],
    ['any rule with all rights', [rule('*', '*', '*')], [rule('*', '*', '*'), rule('x', 'y', 'z/w', 'n')]],
    ['objects with a name by objects with any name', [rule('get', 'core', 'pods')], [rule('get', 'core', 'pods', 'a')]],
    ['a subset of names', [rule('get', 'core', 'pods', 'a,b')], [rule('get', 'core', 'pods', 'b')]],
    [
      'a subresource by the subresource of all resources',
      [rule('get', 'apps', '*/scale')],
      [rule('get', 'apps', 'deployments/scale')],
    ],
    ['paths below a wildcard', [paths('get', '/api/*')], [paths('get', '/api/*,/api/v1,/api/v1/*')]],
    ['every path by any path', [paths('*', '*')], [paths('get', '/x,*')]],
    ['an empty rule', [], [{ verbs: [] }, { verbs: [], apiGroups: [''], resources: ['pods'] }]],
  ])('finds that %s is held', (_name, held, wanted) => {
    expect(missing(held, ...wanted)).toBe('');
  });

  it.each<[string, PolicyRule[], PolicyRule, string]>([
    [
      'a verb',
      [rule('get', 'core', 'pods')],
      rule('get,delete,list', 'core', 'pods'),
      '{APIGroups:[""], Resources:["pods"], Verbs:["delete" "list"]}',
    ],
    [
      'all verbs with several verbs',
      [rule('get,list,watch', 'core', 'pods')],
      rule('*', 'core', 'pods'),
      '{APIGroups:[""], Resources:["pods"], Verbs:["*"]}',
    ],
    [
      'all groups with several groups',
      [rule('get', 'core,apps', 'pods')],
      rule('get', '*', 'pods'),
      '{APIGroups:["*"], Resources:["pods"], Verbs:["get"]}',
    ],
    [
      'all resources with several resources',
      [rule('get', 'core', 'pods,*/log')],
      rule('get', 'core', '*'),
      '{APIGroups:[""], Resources:["*"], Verbs:["get"]}',
    ],
    [
      'a subresource with its resource',
      [rule('get', 'core', 'pods')],
      rule('get', 'core', 'pods/log'),
      '{APIGroups:[""], Resources:["pods/log"], Verbs:["get"]}',
    ],
    [
      'any name with several names',
      [rule('get', 'core', 'pods', 'a')],
      rule('get', 'core', 'pods'),
      '{APIGroups:[""], Resources:["pods"], Verbs:["get"]}',
    ],
    [
      'another name',
      [rule('get', 'core', 'pods', 'a')],
      rule('get', 'core', 'pods', 'a,b'),
      '{APIGroups:[""], Resources:["pods"], ResourceNames:["b"], Verbs:["get"]}',
    ],
    [
      'a path with a resource',
      [rule('*', '*', '*')],
      paths('get,put', '/x'),
      '{NonResourceURLs:["/x"], Verbs:["get"]}\n{NonResourceURLs:["/x"], Verbs:["put"]}',
    ],
    [
      'a resource with a path',
      [paths('*', '*')],
      rule('get', 'core', 'pods'),
      '{APIGroups:[""], Resources:["pods"], Verbs:["get"]}',
    ],
    ['a parent path', [paths('get', '/api/*')], paths('get', '/api'), '{NonResourceURLs:["/api"], Verbs:["get"]}'],
    [
      'any path with the paths below a slash',
      [paths('get', '/*')],
      paths('get', '*'),
      '{NonResourceURLs:["*"], Verbs:["get"]}',
    ],
  ])('finds that %s is not held', (_name, held, wanted, text) => {
    expect(missing(held, wanted)).toBe(text);
  });

  it('describes missing rights in order, one line per resource', () => {
    const wanted = [rule('get', 'core', 'configmaps'), rule('get,list', 'apps,core', 'configmaps', 'a,c')];
    expect(missing([rule('get', 'core', 'configmaps', 'a')], ...wanted)).toBe(
      [
        '{APIGroups:[""], Resources:["configmaps"], ResourceNames:["a"], Verbs:["list"]}',
        '{APIGroups:[""], Resources:["configmaps"], ResourceNames:["c"], Verbs:["get" "list"]}',
        '{APIGroups:[""], Resources:["configmaps"], Verbs:["get"]}',
        '{APIGroups:["apps"], Resources:["configmaps"], ResourceNames:["a"], Verbs:["get" "list"]}',
        '{APIGroups:["apps"], Resources:["configmaps"], ResourceNames:["c"], Verbs:["get" "list"]}',
      ].join('\n'),
    );
  });

  it('gives up on millions of rights', () => {
    const words = Array.from({ length: 500 }, (_, index) => `w${index}`).join();
    expect(missing([rule('get', 'core', 'pods')], rule(words, words, words))).toBeUndefined();
    expect(missing([rule('*', '*', '*')], rule(words, words, words))).toBe('');
  });
});
