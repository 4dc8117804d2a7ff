import { describe, expect, it } from 'vitest';
import type { HSMDevice } from '../api/hsm-device.ts';
import { permissionProblem } from './permit.ts';
import { deviceOf } from './sample-objects.test-support.ts';

const device = (access: HSMDevice['spec']['access']): HSMDevice => deviceOf('hsm', 'pico', { access });

describe('the permission to read', () => {
  it.each<[string, HSMDevice['spec']['access'], string, string, boolean]>([
    ['everything on devices of the own namespace', [], 'hsm', 'any/path', true],
    ['nothing on other devices without a rule', [], 'team-a', 'team-a/db', false],
    ['the own paths by default', [{ namespaces: ['team-a'] }], 'team-a', 'team-a/x/db', true],
    ['no other paths by default', [{ namespaces: ['team-a'] }], 'team-a', 'team-ab/db', false],
    ['not the path that is the name of the namespace', [{ namespaces: ['team-a'] }], 'team-a', 'team-a', false],
    ['with a glob of namespaces', [{ namespaces: ['team-*'] }], 'team-b', 'team-b/db', true],
    ['the paths of the rule', [{ namespaces: ['team-a'], paths: ['shared/*'] }], 'team-a', 'shared/db', true],
    ['no path below', [{ namespaces: ['team-a'], paths: ['shared/*'] }], 'team-a', 'shared/x/db', false],
    ['not by the rule of another', [{ namespaces: ['team-b'], paths: ['**'] }], 'team-a', 'shared/db', false],
    ['nothing by a rule without paths', [{ namespaces: ['team-a'], paths: [] }], 'team-a', 'team-a/db', false],
  ])('includes %s', (_, access, namespace, path, isPermitted) => {
    expect(permissionProblem(device(access), { namespace, path }) === undefined).toBe(isPermitted);
  });

  it('names the rule to add', () => {
    expect(permissionProblem(device([]), { namespace: 'team-a', path: 'x/y' })).toMatchObject({
      reason: 'NotPermitted',
      message:
        'the HSMDevice hsm/pico does not permit the namespace team-a to read x/y; its owner can add {"namespaces":["team-a"],"paths":["x/y"]} to its spec.access',
    });
  });
});
