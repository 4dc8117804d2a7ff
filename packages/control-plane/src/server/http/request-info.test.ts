import { describe, expect, it } from 'vitest';
import { readUrl, requestInfo } from './request-info.ts';

describe('requestInfo', () => {
  it.each([
    ['fieldSelector=metadata.name%3Da', 'list', 'a'],
    ['fieldSelector=metadata.name%3D%3Da&watch=true', 'watch', 'a'],
    ['fieldSelector=type%3Dx,metadata.name%3Da', 'list', 'a'],
    ['fieldSelector=metadata.name!%3Da', 'list', ''],
    ['fieldSelector=metadata.name%3D..', 'list', ''],
    ['fieldSelector=metadata.namespace%3Da', 'list', ''],
  ])('reads %s as a %s of the single object %j', (query, verb, name) => {
    const info = requestInfo('GET', '/api/v1/namespaces/ns/secrets', new URLSearchParams(query));
    expect(info).toMatchObject({ verb, name, namespace: 'ns', resource: 'secrets' });
  });
});

describe('readUrl', () => {
  it.each([
    ['/api/v1?a=b%20c', '/api/v1'],
    ['/%61pi/x%2fy', '/api/x/y'],
    ['//api/../v1', '//api/../v1'],
    ['/#x', '/#x'],
  ])('reads %s and leaves its segments as they are', (url, path) => {
    expect(readUrl(url)?.path).toBe(path);
  });

  it.each(['', 'api', 'http://other.example/api', '/%zz', '/%', '/%c0%af'])('refuses %j', (url) => {
    expect(readUrl(url)).toBeUndefined();
  });

  it('does not read a path with an empty segment as a resource path', () => {
    expect(requestInfo('GET', '/api//v1/pods', new URLSearchParams()).isResource).toBe(false);
    expect(requestInfo('GET', '//api/v1/pods', new URLSearchParams()).isResource).toBe(false);
    expect(requestInfo('GET', '/api/v1/pods/', new URLSearchParams())).toMatchObject({ resource: 'pods', name: '' });
  });
});
