import { invalidPath } from '../path-segments.ts';
import type { ProviderKind } from '../provider.ts';

const pathFormat = 'any text without control characters';

/** mock reads made-up secrets, for trials and tests. */
export const mock: ProviderKind<unknown> = {
  name: 'mock',
  pathFormat,
  names(path) {
    if (path === '' || /\p{C}/u.test(path)) throw invalidPath(path, 'is empty or has control characters', pathFormat);
    return [path];
  },
  async load(context) {
    const { ClusterMock } = await import('./cluster-mock.ts');
    return new ClusterMock(context);
  },
};
