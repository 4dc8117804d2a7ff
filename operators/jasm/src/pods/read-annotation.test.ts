import { describe, expect, it } from 'vitest';
import { PathInvalid } from '../providers/provider-error.ts';
import type { ConfiguredKind } from '../providers/provider-kinds.ts';
import { annotationReader } from './read-annotation.ts';

const kind: ConfiguredKind = {
  name: 'mock',
  pathFormat: 'any text but one',
  canProbeVersion: true,
  names: (path) => {
    if (path === 'bad') throw new PathInvalid('it is bad');
    return [path];
  },
  dependsOnNamespace: () => false,
  load: () => Promise.reject(new Error('is not loaded here')),
};
const read = annotationReader(new Map([['mock', kind]]));

const entry = (path: string, name: string, provider = 'mock'): string =>
  `  - { provider: ${provider}, path: ${path}, secretName: ${name} }`;

describe('annotationReader', () => {
  it('reports a path that is invalid for its provider, and keeps the other entries', () => {
    const { requests, problems } = read(['secrets:', entry('good', 'a'), entry('bad', 'b')].join('\n'));
    expect(requests.map(({ secretName }) => secretName)).toEqual(['a']);
    expect(problems).toEqual([{ reason: 'AnnotationInvalid', message: 'secrets[1].path: Invalid value: it is bad' }]);
  });

  it('accepts only configured providers', () => {
    expect(read(`secrets:\n${entry('good', 'a', 'vault')}`)).toMatchObject({
      requests: [],
      problems: [{ reason: 'ProviderUnsupported', message: expect.stringContaining('"mock"') as string }],
    });
  });
});
