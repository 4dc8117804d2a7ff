// What the process that is killed needs of the scenario, and no more.
export { jasm as operator } from '@bowline/jasm';

// The store is a Secret, which the operator in its own process reads as it would any other store.
export const config = { allowAllPaths: true, allowDeletion: true, deletionGrace: '0s', mock: { enabled: true } };
