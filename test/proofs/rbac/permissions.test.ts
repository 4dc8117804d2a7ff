import type { Role } from '@bowline/kubernetes';
import { describe, expect, it } from 'vitest';
import { judge } from './judge.ts';
import { permissionsIn, without } from './permissions.ts';

const account = { kind: 'ServiceAccount', metadata: { name: 'a' } };
const role: Role = {
  kind: 'Role',
  rules: [
    { apiGroups: [''], resources: ['secrets'], resourceNames: ['key', 'lock'], verbs: ['get', 'update'] },
    { apiGroups: ['apps'], resources: ['deployments/status'], verbs: ['get', 'list'] },
    { apiGroups: [''], resources: ['pods'], verbs: ['create'] },
  ],
};
const permissions = permissionsIn([account, role]);

it('counts every verb of every rule, and detects a get that is covered by a list', () => {
  expect(permissions.map(({ text, isCovered }) => `${text}${isCovered ? ' covered' : ''}`)).toEqual([
    'get secrets key (Role)',
    'get secrets lock (Role)',
    'update secrets key (Role)',
    'update secrets lock (Role)',
    'get deployments/status.apps (Role) covered',
    'list deployments/status.apps (Role)',
    'create pods (Role)',
  ]);
});

it('removes one permission and keeps the others', () => {
  for (const permission of permissions) {
    const left = permissionsIn(without([account, role], permission)).map(({ text }) => text);
    expect(left.sort()).toEqual(permissions.flatMap((each) => (each === permission ? [] : [each.text])).sort());
  }
});

it('removes the same permission where names differ', () => {
  const [rule] = role.rules ?? [];
  const renamed = { ...role, rules: rule ? [{ ...rule, resourceNames: ['x', 'y'] }] : [] };
  const [first] = permissions;
  if (!first) throw new TypeError('there is no permission');
  expect(permissionsIn(without([account, renamed], first)).map(({ text }) => text)).toEqual([
    'update secrets x (Role)',
    'update secrets y (Role)',
    'get secrets y (Role)',
  ]);
});

describe('the verdict', () => {
  const [named, , , , covered] = permissions;
  it.each([
    ['works with everything', undefined, { broken: undefined, refused: [] }, undefined],
    [
      'does not work with everything',
      undefined,
      { broken: 'idle', refused: ['get pods'] },
      /does not work: idle.*get pods/,
    ],
    [
      'is refused something with everything',
      undefined,
      { broken: undefined, refused: ['get pods'] },
      /refused: get pods/,
    ],
    ['breaks without a permission', named, { broken: 'idle', refused: ['get secrets'] }, undefined],
    [
      'breaks for another reason',
      named,
      { broken: 'idle: timeout', refused: [] },
      /nothing was refused: idle: timeout/,
    ],
    ['works without a permission', named, { broken: undefined, refused: [] }, /nothing needs it/],
    [
      'works although it was refused',
      named,
      { broken: undefined, refused: ['get secrets'] },
      /although it was refused/,
    ],
    ['works without a redundant permission', covered, { broken: undefined, refused: [] }, undefined],
  ])('on an operator that %s', (_, taken, outcome, text) => {
    expect(judge(taken, outcome) ?? 'fine').toMatch(text ?? /^fine$/);
  });
});
