import { describe, expect, it } from 'vitest';
import { requestInfo } from './request-info.ts';

describe('requestInfo', () => {
  it.each([
    ['fieldSelector=metadata.name%3Da', 'list', 'a'],
    ['fieldSelector=metadata.name%3D%3Da&watch=true', 'watch', 'a'],
    ['fieldSelector=type%3Dx,metadata.name%3Da', 'list', 'a'],
    ['fieldSelector=metadata.name!%3Da', 'list', ''],
    ['fieldSelector=metadata.name%3D..', 'list', ''],
    ['fieldSelector=metadata.namespace%3Da', 'list', ''],
  ])('takes %s for the wish to %s the object %j alone', (query, verb, name) => {
    const info = requestInfo('GET', '/api/v1/namespaces/ns/secrets', new URLSearchParams(query));
    expect(info).toMatchObject({ verb, name, namespace: 'ns', resource: 'secrets' });
  });
});
