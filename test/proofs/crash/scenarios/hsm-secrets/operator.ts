// The part of the scenario that the killed process needs.
export { hsmSecrets as operator } from '@bowline/hsm-secrets';

// No DaemonSet controller runs: the pods are made by hand.
export const config = { image: 'example.test/bowline:1', requireDaemonSetOwner: false };
