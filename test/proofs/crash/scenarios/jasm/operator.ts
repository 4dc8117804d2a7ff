// The part of the scenario that the killed process needs.
export { jasm as operator } from '@bowline/jasm';

// The store is a Secret, which the operator in its own process reads like any other store.
export const config = { allowAllPaths: true, allowDeletion: true, deletionGrace: '0s', mock: { enabled: true } };
