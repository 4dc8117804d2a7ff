import { describe, expect, it } from 'vitest';
import { profileOf } from '../discovery/gateways.test-support.ts';
import { judgeProfile, type ProfileSpec } from './judge-profile.ts';
import { resolveProfiles } from './resolve-profiles.ts';

const specOf = (changes: object): ProfileSpec => {
  const { spec } = profileOf(changes);
  if (spec === undefined) throw new Error('the profile has no spec');
  return spec;
};

const depending = (...names: string[]): object => ({ dependsOn: names.map((profileName) => ({ profileName })) });

const profilesOf = (profiles: Readonly<Record<string, object>>): Map<string, ProfileSpec> =>
  new Map(Object.entries(profiles).map(([name, changes]) => [name, specOf(changes)]));

const mapping = (changes: object): object => ({ mappings: [{ source: 'a', destination: 'projects', ...changes }] });

describe('a profile', () => {
  it.each<[what: string, profiles: Readonly<Record<string, object>>]>([
    ['without dependencies', { p: {} }],
    ['with a dependency', { p: depending('q'), q: {} }],
    ['whose dependencies meet again', { p: depending('q', 'r'), q: depending('s'), r: depending('s'), s: {} }],
    ['that depends on a cycle without being part of it', { p: depending('q'), q: depending('r'), r: depending('q') }],
    [
      'with variables',
      { p: { ...mapping({ source: '{{.Vars.a}}/{{.Labels.app}}/{{.PodOrdinal}}' }), vars: { a: '1' } } },
    ],
  ])('is accepted %s', (_, profiles) => {
    expect(judgeProfile('p', profilesOf(profiles))).toMatchObject({ isAccepted: true, reason: 'ValidationPassed' });
  });

  it.each<[what: string, profiles: Readonly<Record<string, object>>, reason: string, message: string]>([
    ['that depends on itself', { p: depending('p') }, 'CycleDetected', 'p -> p'],
    ['in a cycle', { p: depending('q'), q: depending('r'), r: depending('p') }, 'CycleDetected', 'p -> q -> r -> p'],
    ['with a missing dependency', { p: depending('q') }, 'DependencyNotFound', 'SyncProfile q does not exist'],
    [
      'with an unknown variable',
      { p: mapping({ destination: 'x/{{.Nope}}' }) },
      'ValidationFailed',
      'spec.mappings[0].destination: {{.Nope}}: the variable is unknown',
    ],
    [
      'with a variable that vars lacks',
      { p: mapping({ patches: [{ file: '*', set: { '.a': '{{.Vars.a}}' } }] }) },
      'ValidationFailed',
      'spec.mappings[0].patches[0].set[.a]: {{.Vars.a}}',
    ],
    [
      'with a destination that is never written',
      { p: mapping({ destination: 'projects/.resources/x' }) },
      'ValidationFailed',
      'spec.mappings[0].destination: projects/.resources/x is never written',
    ],
  ])('is refused %s', (_, profiles, reason, message) => {
    const judgement = judgeProfile('p', profilesOf(profiles));
    expect(judgement).toMatchObject({ isAccepted: false, reason });
    expect(judgement.message).toContain(message);
  });
});

describe('resolved profiles', () => {
  it('are those that pods name, and those that they depend on', () => {
    const profiles = profilesOf({ a: depending('b'), b: depending('c'), c: {}, unused: {} });
    expect(Object.keys(resolveProfiles(['a', 'missing'], profiles))).toEqual(['a', 'b', 'c']);
  });

  it('have a problem instead of a spec if they are not accepted', () => {
    const { a } = resolveProfiles(['a'], profilesOf({ a: depending('a') }));
    expect(a?.spec).toBeUndefined();
    expect(a?.problem).toContain('a -> a');
  });

  it('are at most 64, first those that pods name', () => {
    const names = Array.from({ length: 70 }, (_, index) => `p${String(index).padStart(2, '0')}`);
    const profiles = profilesOf(Object.fromEntries(names.map((name) => [name, depending('zero')])));
    profiles.set('zero', specOf({}));
    const resolved = Object.keys(resolveProfiles(names, profiles));
    expect(resolved).toHaveLength(64);
    expect(resolved).not.toContain('zero');
  });
});
