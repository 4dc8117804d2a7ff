import { providerContract } from '../contract.test-support.ts';
import { mock } from './kind.ts';
import { MockProvider } from './mock-provider.ts';

providerContract('the mock', {
  lacks: ['denial', 'failure', 'hanging'],
  invalidPaths: ['', 'a\nb'],
  names: (path) => mock.names(path, undefined),
  setup: async () => {
    const observed: string[] = [];
    const provider = new MockProvider({ observe: ({ operation, code }) => observed.push(`${operation} ${code}`) });
    return {
      provider,
      observed,
      credentials: [],
      ref: (word) => ({ path: `/prod/${word}`, namespace: 'team-a' }),
      put: ({ path }, fields) => provider.addSecret(path, fields),
      putEmpty: ({ path }) => provider.addSecret(path, {}),
      // Each test that removes a secret has only one.
      remove: () => provider.clear(),
      [Symbol.asyncDispose]: async () => {},
    };
  },
});
