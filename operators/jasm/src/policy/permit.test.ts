import { validate } from '@bowline/machinery/schema';
import { s } from '@bowline/runtime/resource';
import { describe, expect, test } from 'vitest';
import { policyFields, policyRule } from './config.ts';
import { type PermitInput, type Policy, type PolicyRule, permit } from './permit.ts';

const RULE: PolicyRule = { namespaces: ['team-a', 'shared-*'], provider: 'vault', paths: ['secret/data/team-a/**'] };
const POLICY: Policy = { allowAllPaths: false, permittedPathsRequired: false, policy: [RULE] };
const OPEN: Policy = { allowAllPaths: true, permittedPathsRequired: false };

interface Input {
  readonly namespace?: string;
  readonly provider?: string;
  readonly names?: readonly string[];
  readonly role?: string;
  readonly region?: string;
  /** The namespace's permitted-paths; null: the namespace cannot be read. */
  readonly permitted?: string | null;
}

function inputOf({
  namespace = 'team-a',
  provider = 'vault',
  names = ['secret/data/team-a/db'],
  role,
  region,
  permitted,
}: Input): PermitInput {
  const annotations = permitted === undefined ? {} : { 'jasm.codnod.io/permitted-paths': permitted ?? '' };
  return {
    request: { provider, path: names[0] ?? '', role, region },
    names,
    namespace,
    annotations: permitted === null ? undefined : annotations,
  };
}

const isAllowed = (input: Input, policy: Policy): boolean => !('reason' in permit(inputOf(input), policy));
const messageOf = (input: Input, policy: Policy): string => {
  const result = permit(inputOf(input), policy);
  if (!('reason' in result)) throw new Error('it is allowed');
  expect(result.reason).toBe('PathNotPermitted');
  return result.message;
};

describe('a policy', () => {
  test.each<[string, Input]>([
    ['a namespace and path of a rule', {}],
    ['a namespace that matches a glob', { namespace: 'shared-x' }],
    ['a deeper path', { names: ['secret/data/team-a/x/y/z'] }],
    ['a secret by another name', { names: ['team-a/db', 'secret/data/team-a/db'] }],
  ])('allows %s', (_, input) => {
    expect(permit(inputOf(input), POLICY)).toEqual({ role: undefined, region: undefined });
  });

  test.each<[string, Input]>([
    ['another namespace', { namespace: 'team-b' }],
    ['a namespace that starts like an allowed one', { namespace: 'team-a-x' }],
    ['a namespace in capital letters', { namespace: 'TEAM-A' }],
    ['another provider', { provider: 'aws-secretsmanager' }],
    ['a provider in capital letters', { provider: 'Vault' }],
    ['another path', { names: ['secret/data/team-b/db'] }],
    ['a path that starts like an allowed one', { names: ['secret/data/team-ab/db'] }],
    ['the folder itself', { names: ['secret/data/team-a'] }],
    ['a path in capital letters', { names: ['secret/data/TEAM-A/db'] }],
    ['a path with a parent segment', { names: ['secret/data/team-a/../team-b/db'] }],
    ['a path that ends with a parent segment', { names: ['secret/data/team-a/..'] }],
    ['a path with a dot segment', { names: ['secret/data/team-a/./db'] }],
    ['a second name with a parent segment', { names: ['secret/data/team-a/db', 'secret/data/team-a/../db'] }],
    ['a path with a leading space', { names: [' secret/data/team-a/db'] }],
    ['a path with a leading slash', { names: ['/secret/data/team-a/db'] }],
    ['no name at all', { names: [] }],
    ['an empty name', { names: [''] }],
    ['a path that is the glob itself, of another rule', { names: ['**'] }],
  ])('denies %s', (_, input) => {
    expect(isAllowed(input, POLICY)).toBe(false);
    // Neither the flag nor the namespace can widen the policy.
    expect(isAllowed({ ...input, permitted: '**' }, { ...POLICY, allowAllPaths: true })).toBe(false);
  });

  test('without rules denies everything', () => {
    expect(isAllowed({}, { ...POLICY, policy: [], allowAllPaths: true })).toBe(false);
  });

  test.each<Partial<PolicyRule>>([{ namespaces: [] }, { namespaces: [''] }, { paths: [] }, { paths: [''] }])(
    'whose globs are empty (%j) allows nothing',
    (change) => {
      expect(isAllowed({}, { ...POLICY, policy: [{ ...RULE, ...change }] })).toBe(false);
    },
  );

  test('reports the denied namespace, provider and path, and who can allow it', () => {
    expect(messageOf({ namespace: 'team-b' }, POLICY)).toBe(
      'pods in the namespace team-b may not read "secret/data/team-a/db" from vault: no rule of the policy allows it; ask an administrator of the operator to add a rule to jasm.policy',
    );
  });
});

describe('roles and regions', () => {
  const rule: PolicyRule = { ...RULE, role: 'reader', roles: ['arn:*:role/team-a-*'], regions: ['eu-*'] };
  const policy: Policy = { ...POLICY, policy: [{ ...RULE, paths: ['secret/data/team-a/plain'] }, rule] };

  test.each<[Input, object]>([
    [{}, { role: 'reader', region: undefined }],
    [{ role: 'reader' }, { role: 'reader', region: undefined }],
    [
      { role: 'arn:x:role/team-a-1', region: 'eu-west-1' },
      { role: 'arn:x:role/team-a-1', region: 'eu-west-1' },
    ],
    [{ names: ['secret/data/team-a/plain'] }, { role: undefined, region: undefined }],
    [
      { names: ['secret/data/team-a/plain'], region: 'eu-west-1' },
      { role: 'reader', region: 'eu-west-1' },
    ],
  ])('of %j are %j', (input, permission) => {
    expect(permit(inputOf(input), policy)).toEqual(permission);
  });

  test.each<Input>([
    { role: 'other' },
    { role: 'arn:x:role/team-b-1' },
    { role: 'arn:x:role/team-a-1/../team-b' },
    { role: '' },
    { region: 'us-east-1' },
    { role: 'reader', region: 'us-east-1' },
    { role: 'other', region: 'eu-west-1' },
  ])('are denied: %j', (input) => {
    expect(isAllowed(input, policy)).toBe(false);
  });

  test('are not combined from several rules', () => {
    const rules = [
      { ...RULE, roles: ['a'] },
      { ...RULE, regions: ['eu-1'] },
    ];
    expect(isAllowed({ role: 'a' }, { ...POLICY, policy: rules })).toBe(true);
    expect(isAllowed({ region: 'eu-1' }, { ...POLICY, policy: rules })).toBe(true);
    expect(messageOf({ role: 'a', region: 'eu-1' }, { ...POLICY, policy: rules })).toMatch(
      /no rule of the policy allows the path together with the role "a" and the region "eu-1"/,
    );
  });

  test('without a policy are limited to those that the provider allows, by default none', () => {
    expect(messageOf({ role: 'a' }, OPEN)).toMatch(
      /an annotation may not specify the role "a"; .* add a rule to jasm\.policy/,
    );
    expect(isAllowed({ region: 'eu-1' }, OPEN)).toBe(false);
    const some = { ...OPEN, allowed: new Map([['vault', { roles: ['a*'], regions: ['eu-*'] }]]) };
    expect(permit(inputOf({ role: 'ab', region: 'eu-1' }), some)).toEqual({ role: 'ab', region: 'eu-1' });
    expect(isAllowed({ role: 'b' }, some)).toBe(false);
    // Allowing the roles of one store allows nothing in another.
    expect(isAllowed({ provider: 'azure-keyvault', role: 'ab' }, some)).toBe(false);
    // With a policy, these settings have no effect.
    expect(isAllowed({ role: 'ab' }, { ...some, ...POLICY })).toBe(false);
  });
});

describe('permitted-paths of a namespace', () => {
  test.each<[permitted: string, name: string, isAllowed: boolean]>([
    ['secret/data/team-a/*', 'secret/data/team-a/db', true],
    [' secret/data/other , secret/data/team-a/db ,', 'secret/data/team-a/db', true],
    ['**', 'secret/data/team-a/db', true],
    ['secret/data/team-a/*', 'secret/data/team-a/x/db', false],
    ['secret/data/team-a', 'secret/data/team-a/db', false],
    ['SECRET/**', 'secret/data/team-a/db', false],
    ['', 'secret/data/team-a/db', false],
    [',', 'secret/data/team-a/db', false],
    [' , ,', '', false],
    ['**', 'a/../b', false],
  ])('of %j for %j: %j', (permitted, name, expected) => {
    expect(isAllowed({ permitted, names: [name] }, OPEN)).toBe(expected);
  });

  test('name who can change them', () => {
    expect(messageOf({ permitted: 'x' }, OPEN)).toBe(
      'pods in the namespace team-a may not read "secret/data/team-a/db" from vault: the annotation jasm.codnod.io/permitted-paths of the namespace does not allow it; ask an owner of the namespace team-a to add the path',
    );
  });

  test('restrict what a policy allows', () => {
    expect(isAllowed({ permitted: 'secret/**' }, POLICY)).toBe(true);
    expect(isAllowed({ permitted: 'secret/data/team-a/other' }, POLICY)).toBe(false);
  });

  test('may be required', () => {
    const required = { ...OPEN, permittedPathsRequired: true };
    expect(isAllowed({ permitted: '**' }, required)).toBe(true);
    expect(messageOf({}, required)).toMatch(
      /must have the annotation .*; ask an owner of the namespace team-a to add it/,
    );
    expect(messageOf({ permitted: null }, required)).toMatch(/the operator cannot read namespaces/);
    expect(isAllowed({ permitted: null }, OPEN)).toBe(true);
  });

  test('is rejected if it is too long', () => {
    expect(isAllowed({ permitted: `${'x,'.repeat(8_000)}**` }, OPEN)).toBe(true);
    expect(messageOf({ permitted: `${'x,'.repeat(9_000)}**` }, OPEN)).toMatch(
      /has more than 16384 characters; ask an owner of the namespace team-a to shorten it/,
    );
  });
});

describe('the configuration', () => {
  const schema = s.object(policyFields);

  test('rejects a rule without namespaces, provider or paths', () => {
    expect(validate({ policy: [{ ...RULE }] }, schema.json)).toEqual([]);
    for (const change of [
      { namespaces: [] },
      { namespaces: [''] },
      { paths: [] },
      { paths: [''] },
      { provider: '' },
      { roles: [] },
    ])
      expect(validate({ policy: [{ ...RULE, ...change }] }, schema.json)).not.toEqual([]);
  });

  test('must contain a policy or allowAllPaths', () => {
    const section = s.object(policyFields).rule(policyRule.rule, policyRule);
    expect(validate({ allowAllPaths: false }, section.json)).toMatchObject([
      { message: expect.stringMatching(/define rules in jasm\.policy.*--allow-all-paths/) as string },
    ]);
    expect(validate({ allowAllPaths: true }, section.json)).toEqual([]);
    expect(validate({ allowAllPaths: false, policy: [] }, section.json)).toEqual([]);
    // And a request is refused anyway.
    expect(messageOf({}, { ...OPEN, allowAllPaths: false })).toMatch(/no policy is configured/);
  });
});
