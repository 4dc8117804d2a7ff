import { describe, expect, test } from 'vitest';
import { ConfigMapSync, type Spec } from '../api/config-map-sync.ts';
import { checkSpec } from './check-spec.ts';

function specOf(change: object): Spec {
  const spec = { sourceNamespace: 'a', configMapName: 'm', destinationNamespace: 'b', ...change };
  return ConfigMapSync.withDefaults({ spec }).spec;
}

describe('checkSpec', () => {
  test('returns no problems for a valid spec', () => {
    const transforms = [
      { rename: { from: '..', to: 'a' } },
      { replace: { pattern: '(a)', replacement: '$1' } },
      { template: { key: 'x', template: '{{ data.a }}' } },
    ];
    expect(checkSpec(specOf({}))).toEqual([]);
    expect(checkSpec(specOf({ transforms, destinationSelector: { matchLabels: { a: 'b' } } }))).toEqual([]);
  });

  test.each<[object, string]>([
    [{ transforms: [{ rename: { from: 'a', to: '..' } }] }, 'spec.transforms[0].rename.to'],
    [{ transforms: [{ prefix: 'a' }, { set: { key: '..a', value: '' } }] }, 'spec.transforms[1].set.key'],
    [{ transforms: [{ template: { key: '.', template: '' } }] }, 'spec.transforms[0].template.key'],
    [{ transforms: [{ template: { key: 'a', template: '{{ x }}' } }] }, 'spec.transforms[0].template.template'],
    [{ transforms: [{ template: { key: 'a', template: '{{' } }] }, 'spec.transforms[0].template.template'],
    [{ transforms: [{ replace: { pattern: '(?=a)', replacement: '' } }] }, 'spec.transforms[0].replace'],
    [{ transforms: [{ replace: { pattern: 'a', replacement: '$' } }] }, 'spec.transforms[0].replace'],
    [{ destinationSelector: { matchLabels: { 'a b': '' } } }, 'spec.destinationSelector.matchLabels'],
    [
      { destinationSelector: { matchExpressions: [{ key: 'a', operator: 'Maybe' }] } },
      'spec.destinationSelector.matchExpressions[0].operator',
    ],
    [{ metadata: { labels: { 'a/b/c': '' } } }, 'spec.metadata.labels'],
  ])('reports the field of %j', (change, field) => {
    expect(checkSpec(specOf(change)).map((problem) => problem.field)).toEqual([field]);
  });

  test('rejects expressions and patterns that would take too long to compile', () => {
    const items = Array.from({ length: 900 }, () => 'data.a').join(', ');
    const templates = Array.from({ length: 64 }, () => ({
      template: { key: 'a', template: `{{ [${items}].size() }}` },
    }));
    expect(checkSpec(specOf({ transforms: templates })).map(({ field }) => field)).toContain(
      'spec.transforms[63].template.template',
    );
    const patterns = Array.from({ length: 64 }, (_, index) => ({
      replace: { pattern: `([^${index}]|x){1,900}`, replacement: '' },
    }));
    const problems = checkSpec(specOf({ transforms: patterns }));
    expect(problems.map(({ field }) => field)).toContain('spec.transforms[63].replace');
    expect(problems.map(({ field }) => field)).not.toContain('spec.transforms[0].replace');
  });

  test('counts the patterns in templates with those of replacements', () => {
    const templates = Array.from({ length: 4 }, (_, place) => ({
      template: { key: `k${place}`, template: `{{ data.a.matches("([^${place}]|x){1,900}") }}` },
    }));
    const problems = checkSpec(specOf({ transforms: [...templates, { replace: { pattern: 'a', replacement: 'b' } }] }));
    expect(problems.map(({ field }) => field)).toContain('spec.transforms[4].replace');
    expect(problems.map(({ field }) => field)).not.toContain('spec.transforms[0].template.template');
  });

  test('returns all problems at once', () => {
    const transforms = [{ template: { key: 'a', template: '{{' } }, { replace: { pattern: '(', replacement: '' } }];
    expect(checkSpec(specOf({ transforms }))).toHaveLength(2);
  });
});
