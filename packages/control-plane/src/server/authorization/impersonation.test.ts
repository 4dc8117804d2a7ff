import { describe, expect, it } from 'vitest';
import { ANONYMOUS, type UserInfo } from '../authentication/user-info.ts';
import type { ApiRequest } from '../http/api-request.ts';
import type { Attributes, Authorizer } from './authorizer.ts';
import { impersonated } from './impersonation.ts';

const ann: UserInfo = { username: 'ann', groups: ['system:authenticated'] };
const all: Authorizer = { authorize: () => ({ allowed: true, reason: '' }) };

function asking(...lines: (readonly [string, string])[]): ApiRequest {
  return {
    method: 'GET',
    url: '/',
    headers: Object.fromEntries(lines),
    headerLines: () => lines,
    body: () => Promise.resolve(new Uint8Array()),
    signal: new AbortController().signal,
    connection: { remoteAddress: '', isSecure: true },
  };
}

describe('impersonated', () => {
  it('returns the caller without impersonation headers', () => {
    expect(impersonated(asking(['accept', 'x']), ann, all)).toBe(ann);
    expect(impersonated(asking(['impersonate-user', '']), ann, all)).toBe(ann);
  });

  // The real server's responses to a SelfSubjectReview.
  it.each<[string, (readonly [string, string])[], UserInfo]>([
    [
      'a user with groups, a uid and extra fields',
      [
        ['impersonate-user', 'jane'],
        ['impersonate-group', 'g1'],
        ['impersonate-group', 'a, b'],
        ['impersonate-uid', 'u1'],
        ['impersonate-extra-scopes', 'x'],
        ['impersonate-extra-scopes', 'y'],
        ['impersonate-extra-acme.com%2fproject%41', 'z'],
        ['impersonate-extra-a%zz', ''],
      ],
      {
        username: 'jane',
        uid: 'u1',
        groups: ['g1', 'a, b', 'system:authenticated'],
        extra: { scopes: ['x', 'y'], 'acme.com/projectA': ['z'], 'a%zz': [''] },
      },
    ],
    [
      'a ServiceAccount with its groups',
      [['impersonate-user', 'system:serviceaccount:default:foo']],
      {
        username: 'system:serviceaccount:default:foo',
        groups: ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'],
      },
    ],
    [
      'a ServiceAccount with other groups',
      [
        ['impersonate-user', 'system:serviceaccount:default:foo'],
        ['impersonate-group', 'g'],
      ],
      { username: 'system:serviceaccount:default:foo', groups: ['g', 'system:authenticated'] },
    ],
    [
      'a user whose name only resembles a ServiceAccount',
      [['impersonate-user', 'system:serviceaccount:Default:foo']],
      { username: 'system:serviceaccount:Default:foo', groups: ['system:authenticated'] },
    ],
    ['the anonymous user', [['impersonate-user', 'system:anonymous']], ANONYMOUS],
    [
      'the first of two names',
      [
        ['impersonate-user', 'jane'],
        ['impersonate-user', 'joe'],
      ],
      { username: 'jane', groups: ['system:authenticated'] },
    ],
    [
      'a user with the group system:unauthenticated',
      [
        ['impersonate-user', 'jane'],
        ['impersonate-group', 'system:unauthenticated'],
      ],
      { username: 'jane', groups: ['system:unauthenticated'] },
    ],
  ])('returns %s', async (_name, lines, user) => {
    expect(impersonated(asking(...lines), ann, all)).toEqual(user);
  });

  it('treats an extra field named like an Object property as data', () => {
    const request = asking(['impersonate-user', 'jane'], ['impersonate-extra-__proto__', 'x']);
    const { extra = {} } = impersonated(request, ann, all);
    expect([Object.keys(extra), Object.getPrototypeOf(extra)]).toEqual([['__proto__'], Object.prototype]);
  });

  it('authorizes every impersonated attribute and reports the one that is denied', () => {
    const checked: Attributes[] = [];
    const authorizer: Authorizer = {
      authorize(_user, attributes) {
        checked.push(attributes);
        return { allowed: attributes.isResource && attributes.resource !== 'uids', reason: '' };
      },
    };
    const request = asking(
      ['impersonate-uid', 'u'],
      ['impersonate-extra-x', 'v'],
      ['impersonate-group', 'g'],
      ['impersonate-user', 'system:serviceaccount:a:b'],
    );
    expect(() => impersonated(request, ann, authorizer)).toThrow(
      expect.objectContaining({
        code: 403,
        message:
          'uids.authentication.k8s.io "u" is forbidden: User "ann" cannot impersonate resource "uids" in API group "authentication.k8s.io" at the cluster scope',
      }),
    );
    const about = { isResource: true, verb: 'impersonate', group: '', namespace: '', subresource: '' };
    expect(checked).toEqual([
      { ...about, resource: 'serviceaccounts', namespace: 'a', name: 'b' },
      { ...about, resource: 'groups', name: 'g' },
      { ...about, group: 'authentication.k8s.io', resource: 'userextras', subresource: 'x', name: 'v' },
      { ...about, group: 'authentication.k8s.io', resource: 'uids', name: 'u' },
    ]);
  });

  it('refuses groups, uids and extra fields without a user', () => {
    const request = asking(['impersonate-extra-x', 'g'], ['impersonate-uid', 'u'], ['impersonate-group', 'g1']);
    expect(() => impersonated(request, ann, all)).toThrow(
      expect.objectContaining({
        code: 400,
        message:
          'requested [{Group  g1    } {UserExtra  g  authentication.k8s.io/v1  x} {UID  u  authentication.k8s.io/v1  }] without impersonating a user',
      }),
    );
  });
});
