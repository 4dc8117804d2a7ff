import { dnsLabelProblems, dnsSubdomainProblems } from '@bowline/machinery';
import { invalidPath, pathSegments } from '../path-segments.ts';
import type { ProviderKind } from '../provider.ts';

const pathFormat = 'namespace/name of a Secret that is shared with the namespace of the pod';

/** kubernetes reads a Secret of another namespace, if that Secret allows it. */
export const kubernetes: ProviderKind<unknown> = {
  name: 'kubernetes',
  pathFormat,
  dependsOnNamespace: () => true,
  names(path) {
    const [namespace = '', name = '', ...more] = pathSegments(path, pathFormat);
    const [problem] = [...dnsLabelProblems(namespace), ...dnsSubdomainProblems(name)];
    if (problem !== undefined || more.length > 0) throw invalidPath(path, 'is not the name of a Secret', pathFormat);
    return [path];
  },
  async load(context) {
    const { KubernetesProvider } = await import('./kubernetes-provider.ts');
    return new KubernetesProvider(context);
  },
};
